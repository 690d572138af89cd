/* SPDX-License-Identifier: MIT */
/* The steps of the first batches, for the timeline of the reports. */
#include "feed.h"

#include <pthread.h>

enum { SHOWN = 48 }; /* batches */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void feed_trace(void *context, enum lade_loader_step step, uint64_t number, unsigned slot, int64_t at)
{
    struct feed *f = context;

    pthread_mutex_lock(&mutex);
    if (f->steps < TRACE_STEPS)
        f->step[f->steps++] = (struct lade_report_step){at, number, slot, step};
    pthread_mutex_unlock(&mutex);
}

void figure_steps(const struct feed *f, struct figures *g)
{
    uint64_t first = UINT64_MAX;
    size_t count = 0;

    for (unsigned i = 0; i < f->steps; i++)
        first = f->step[i].number < first ? f->step[i].number : first;
    /* The start, with cold caches, is left out if there are enough batches. */
    if (f->batches > 2 * SHOWN)
        first += SHOWN;
    for (unsigned i = 0; i < f->steps; i++)
        if (f->step[i].number >= first && f->step[i].number - first < SHOWN)
            g->step[count++] = f->step[i];
    g->report.step = g->step;
    g->report.steps = count;
}

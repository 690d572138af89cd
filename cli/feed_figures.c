/* SPDX-License-Identifier: MIT */
/* What the reports of lade feed tell, computed from what was measured. */
#include "feed.h"

#include "lade.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const char *class_name(const struct feed *f, unsigned c, char *room, size_t size)
{
    if (f->info->class_names)
        return f->info->class_names[c];
    (void)snprintf(room, size, "%u", c);
    return room;
}

const char *order_name(const struct feed *f)
{
    return f->o.stream ? "stream" : f->o.as_ready ? "as ready" : "in order";
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

double source_share(const struct feed *f, unsigned c)
{
    uint64_t own = 0;

    for (unsigned p = 0; p < f->parts; p++)
        own += f->count[(size_t)c * f->parts + p];
    return ratio((double)own, (double)f->classified);
}

double part_share(const struct feed *f, unsigned c, unsigned part)
{
    return ratio((double)f->count[(size_t)c * f->parts + part], (double)f->size[part]);
}

double drawn_share(const struct feed *f, unsigned c)
{
    return ratio((double)f->drawn[c], (double)f->samples);
}

static double clamp(double share)
{
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

static void figure_times(const struct feed *f, struct figures *g)
{
    /* Between the first question for a batch and the last answer, so that both sides have the same time. */
    const struct lade_loader_stats *s = &f->stats, *b = &f->before;
    const double running = (double)(s->running_time - b->running_time);
    const double consumer_wait = (double)(s->consumer_wait_time - b->consumer_wait_time) * 1e-9;
    const double batches = (double)f->batches;

    g->samples_rate = ratio((double)f->samples, f->seconds);
    g->bytes_rate = ratio((double)f->bytes, f->seconds);
    g->read = clamp(ratio((double)(s->read_time - b->read_time), running));
    g->transform = clamp(ratio((double)(s->transform_time - b->transform_time), running));
    g->wait = clamp(ratio((double)(s->worker_wait_time - b->worker_wait_time), running));
    g->plan = running > 0 ? clamp(1 - g->read - g->transform - g->wait) : 0;
    g->busy = f->seconds > 0 ? 1 - clamp(ratio(consumer_wait, f->seconds)) : 0;
    /* While the device works, the consumer may wait for buffers that are still to be copied: not for data. */
    if (f->device.on && ratio(f->device.compute, f->seconds) > g->busy)
        g->busy = clamp(ratio(f->device.compute, f->seconds));
    g->stall = f->seconds > 0 ? 1 - g->busy : 0;
    g->bottleneck = g->busy >= 1 - g->wait                               ? "consumer"
                    : g->transform >= g->read && g->transform >= g->plan ? "transform"
                    : g->read >= g->plan                                 ? "read"
                                                                         : "plan";
    g->t1 = ratio(running * 1e-9 * (1 - g->wait) / (double)f->o.threads, batches);
    g->t2 = ratio(f->seconds * g->busy, batches);
    g->together = ratio(f->seconds, batches);
    g->saved = g->t1 + g->t2 > 0 ? clamp(1 - g->together / (g->t1 + g->t2)) : 0;
    g->bound = ratio(g->t1 < g->t2 ? g->t1 : g->t2, g->t1 + g->t2);
}

double anonymous_memory(void)
{
    static const char name[] = "RssAnon:";
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long long kibibytes = 0;
    char line[256];

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, sizeof name - 1))
            kibibytes = strtoull(line + sizeof name - 1, NULL, 10);
    if (file)
        (void)fclose(file);
    return (double)kibibytes * 1024;
}

static double peak_memory(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024 : 0;
}

/*
 * The classes that were drawn as the parts of a split whose weights are what is expected. More classes than a split can
 * have are put together, those with the same remainder; the test is coarser then, and no less true.
 */
static void figure_drawn(const struct feed *f, struct figures *g)
{
    enum { CELLS = LADE_SPLIT_PARTS_MAX };
    const unsigned cells = f->classes < CELLS ? f->classes : CELLS;
    uint64_t drawn[CELLS] = {0}, expected[CELLS] = {0}, most = 0;
    uint32_t weight[CELLS];
    struct lade_split_tests tests;

    g->drawn_p = -1;
    if (!f->count || f->info->classes < 2 || f->samples == 0)
        return;
    for (unsigned c = 0; c < f->classes; c++) {
        uint64_t own = f->count[(size_t)c * f->parts + f->o.part];
        drawn[c % cells] += f->drawn[c];
        expected[c % cells] += f->o.balanced ? own > 0 : own;
    }
    for (unsigned c = 0; c < cells; c++)
        most = expected[c] > most ? expected[c] : most;
    /* Weights are of 32 bits. */
    for (unsigned c = 0; c < cells; c++)
        weight[c] = (uint32_t)(most > UINT32_MAX ? expected[c] / (most / UINT32_MAX + 1) : expected[c]);
    if (lade_split_audit(drawn, 1, cells, weight, &tests) != LADE_OK)
        return;
    g->drawn_p = tests.shares_p;
    g->drawn_cells = cells;
}

/* Samples that did not come in an epoch with faults and cannot be read, with the reason. */
static void figure_faults(struct feed *f, struct figures *g)
{
    void *sample = malloc(f->info->bytes);

    for (unsigned i = 0; i < f->tally.suspects && sample; i++) {
        struct lade_error error = {.status = LADE_OK};
        if (lade_source_read(f->source, f->tally.suspect[i], sample, NULL, &error) == LADE_OK)
            continue;
        lade_source_name(f->source, f->tally.suspect[i], g->fault[g->faults].name, sizeof g->fault->name);
        (void)snprintf(g->fault[g->faults++].text, sizeof g->fault->text, "%s", error.text);
    }
    free(sample);
}

void feed_figure(struct feed *f, struct figures *g)
{
    memset(g, 0, sizeof *g);
    figure_times(f, g);
    g->peak_memory = peak_memory();
    figure_drawn(f, g);
    figure_faults(f, g);
    g->audited =
        f->count && f->parts > 1 && lade_split_audit(f->count, f->classes, f->parts, f->weight, &g->audit) == LADE_OK;
}

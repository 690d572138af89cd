/* SPDX-License-Identifier: MIT */
/* Replacement of workers that are lost or late. */
#include "loader.h"

static int check_limit(struct lade_loader *l, struct lade_error *error)
{
    if (l->replaced == l->config.replaced_max)
        return lade_fail(
            error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
            "%u workers were replaced, and another one is lost or late: check the source and the transforms",
            l->config.replaced_max);
    return LADE_OK;
}

static int start(struct lade_worker *w, struct lade_error *error)
{
    if (lade_worker_start(w) == LADE_OK)
        return LADE_OK;
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET,
                     "the replacement of a lost worker could not be started");
}

/* Its thread has ended, so another thread inherits all its state. */
static int restart(struct lade_loader *l, struct lade_worker *w, struct lade_error *error)
{
    int status = check_limit(l, error);

    if (status != LADE_OK)
        return status;
    l->replaced++;
    (void)pthread_join(w->thread, NULL);
    w->redo = true; /* it was lost in a user callback, with a job */
    return start(w, error);
}

/* The thread may continue at any time. It keeps its memory, and takes no further job. */
static int supersede(struct lade_loader *l, struct lade_worker *late, struct lade_error *error)
{
    int status = check_limit(l, error);

    if (status != LADE_OK)
        return status;
    struct lade_worker *w;
    status = lade_worker_add(l, &w, error);
    if (status != LADE_OK)
        return status;
    if (!l->bag) {
        w->job = (struct lade_job){.batch = l->low, .start = l->next};
        atomic_store_explicit(&w->batch, l->low + 1, memory_order_relaxed); /* only the consumer reads it */
        w->redo = true;
    } else if (!lade_stream_supersede(late, w)) {
        l->workers--; /* the late worker has nothing left to do */
        return LADE_OK;
    }
    l->replaced++;
    atomic_store_explicit(&late->replaced, w->job.batch + 1, memory_order_relaxed); /* only ends its work early */
    return start(w, error);
}

/* Whether the consumer waits for this worker's batch; a stream waits for every worker that has one. */
static bool is_awaited(const struct lade_loader *l, const struct lade_worker *w)
{
    return l->bag ? atomic_load_explicit(&w->committed, memory_order_relaxed) < LADE_JOB_NONE
                  : atomic_load_explicit(&w->batch, memory_order_relaxed) == l->low + 1 &&
                        atomic_load_explicit(&w->replaced, memory_order_relaxed) != l->low + 1;
}

int lade_loader_supervise(struct lade_loader *l, struct lade_error *error)
{
    const int64_t late = lade_deadline(l->waiting_since, l->config.worker_timeout);
    const bool is_late = late >= 0 && lade_now() >= late;
    const unsigned workers = l->workers;

    if (!lade_loader_is_here(l)) /* a signal handler has forked inside next */
        return lade_loader_refuse_child(error);
    for (unsigned i = 0; i < workers; i++) {
        struct lade_worker *w = &l->worker[i];
        int status = LADE_OK;
        uint32_t state = lade_load_acquire(&w->state);
        if (state == LADE_WORKER_LOST && atomic_load_explicit(&w->replaced, memory_order_relaxed) != w->job.batch + 1)
            status = restart(l, w, error);
        else if (is_late && state == LADE_WORKER_RUNS && is_awaited(l, w))
            status = supersede(l, w, error);
        if (status != LADE_OK)
            return status;
    }
    if (is_late)
        l->waiting_since = lade_now();
    return LADE_OK;
}

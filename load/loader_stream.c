/* SPDX-License-Identifier: MIT */
/*
 * Stream mode: workers put samples into a bag, the consumer draws its batches from it.
 *
 * A worker commits each sample before it puts it. The thread that supersedes a late worker revokes its right to commit,
 * and continues after the last committed sample, so no sample is delivered twice.
 *
 * Waking a thread costs as much as reading a dozen samples, so neither side is woken for each. A waiting consumer is
 * woken when there are samples for the rest of its batch; workers that found the bag full, when a quarter of it was
 * drawn, or when the consumer waits.
 */
#include "loader.h"

#include "heap.h"

#include <stdlib.h>
#include <string.h>

/* A record of the bag, before the bytes of the sample. */
struct head {
    uint64_t id, epoch;
    int64_t label;
    uint64_t unused; /* keeps the bytes aligned */
};

int lade_stream_create(struct lade_loader *l, struct lade_error *error)
{
    const struct lade_bag_config config = {.capacity = l->config.buffer,
                                           .handles = l->config.threads + l->config.replaced_max + 1,
                                           .kind = LADE_BAG_RECORDS,
                                           .record_size = sizeof(struct head) + l->sample_bytes,
                                           .seed = l->config.seed,
                                           .alloc = l->config.alloc};
    int status = lade_bag_create(&l->bag, &config);

    if (status == LADE_OK)
        status = lade_bag_join(l->bag, &l->drawer);
    atomic_store_explicit(&l->producers, l->config.threads, memory_order_relaxed); /* no thread yet */
    return status == LADE_OK ? LADE_OK
                             : lade_fail(error, status, NULL, LADE_NO_OFFSET, "a buffer of %llu samples: %s",
                                         (unsigned long long)l->config.buffer, lade_status_text(status));
}

static int put_or_await(void *context, int64_t *until)
{
    struct lade_worker *w = context;
    int status = lade_bag_put(w->bag, NULL);

    if (status != LADE_FULL)
        return status;
    lade_event_recheck_by(until, lade_now() + WAIT_MOST);
    return LADE_AWAIT;
}

/* Number of puts since creation after which the consumer can complete its batch and leave the bag half full. */
static uint64_t enough(const struct lade_loader *l)
{
    return l->delivered_samples + l->config.buffer / 2 + l->config.batch - 1;
}

/* A sample was put: wakes the consumer if this was the last sample that it waits for. */
static void notify_consumer(struct lade_loader *l)
{
    LADE_STEP();
    const uint64_t puts = 1 + atomic_fetch_add_explicit(&l->puts, 1, memory_order_relaxed); /* the event carries it */

    LADE_STEP();
    /* It only grows: a thread that reads an old value notifies once too often. */
    if (puts >= atomic_load_explicit(&l->ring.awaited, memory_order_relaxed))
        lade_event_notify_all(&l->ready);
}

/* Puts the sample in the worker's buffer into the bag. False: the thread must end. */
static bool put(struct lade_worker *w)
{
    int status = lade_bag_put(w->bag, NULL);

    if (status == LADE_FULL) {
        lade_worker_begin_wait(w);
        status = lade_event_await(&w->loader->reusable, put_or_await, w, -1);
        lade_worker_end_wait(w);
    }
    if (status != LADE_OK)
        return false;
    notify_consumer(w->loader);
    return true;
}

static bool fail(struct lade_worker *w, int status)
{
    lade_store_release(&w->failed, (uint32_t)-status);
    lade_event_notify_all(&w->loader->ready);
    return false;
}

/* Puts the samples of the job, from number i on. */
static bool put_claimed(struct lade_worker *w, uint64_t i)
{
    const uint64_t epoch = w->job.start.epoch;

    for (; i < w->count; i++) {
        struct head *head = lade_bag_scratch(w->bag);
        uint64_t faults = 0;
        *head = (struct head){.id = w->ids[i], .epoch = epoch};
        if (lade_worker_is_superseded(w))
            return false;
        int64_t begin = lade_now();
        int status = lade_worker_make(w, epoch, head->id, head + 1, &head->label, &w->error);
        if (!w->loader->config.pipeline)
            lade_count(&w->read_time, (uint64_t)(lade_now() - begin));
        status =
            lade_worker_apply_fault_policy(w, epoch, &head->id, head + 1, &head->label, status, &faults, &w->error);
        /* Faults count once as well: those of a superseded worker are dropped. */
        if (!lade_job_commit(&w->committed, i, w->count))
            return false;
        lade_count(&w->faults, faults);
        if (status != LADE_OK)
            return fail(w, status);
        if (head->id != LADE_NO_SAMPLE && !put(w))
            return false;
    }
    return true;
}

/* Takes the next samples of the order. False: there are none. */
static bool claim(struct lade_worker *w)
{
    struct lade_loader *l = w->loader;
    uint64_t word[LADE_PLAN_WORDS], read;

    do {
        read = lade_batch_ring_read_plan(&l->ring, word);
        w->job.batch = word[0];
        memcpy(&w->job.start, word + 1, sizeof w->job.start);
        if (w->job.start.epoch >= l->config.epochs)
            return false;
        lade_job_plan(l, &w->walk, &w->job, w->ids, &w->count);
        word[0]++;
        memcpy(word + 1, &w->job.end, sizeof w->job.end);
    } while (!lade_batch_ring_plan(&l->ring, read, word, &w->spare_plan));
    lade_job_list(l, &w->walk, &w->job, w->ids, w->count);
    lade_job_begin(&w->committed);
    return true;
}

bool lade_stream_supersede(struct lade_worker *late, struct lade_worker *w)
{
    uint64_t from;

    if (!w->ids) /* allocated earlier if a suspected worker had finished in time */
        w->ids = lade_heap_get(late->loader->config.alloc, (size_t)late->loader->config.batch, sizeof *w->ids);
    if (!w->ids || !lade_job_supersede(&late->committed, &from))
        return false;
    memcpy(w->ids, late->ids, (size_t)late->count * sizeof *w->ids);
    w->count = late->count;
    w->job = late->job;
    w->redo = true;
    atomic_store_explicit(&w->committed, from, memory_order_relaxed); /* its thread starts after this */
    return true;
}

/* Puts the samples of an endless source. */
static void put_endless(struct lade_worker *w)
{
    const struct lade_loader *l = w->loader;
    const struct lade_loader_config *c = &l->config;

    while (!lade_worker_is_stopped(w)) {
        struct head *head = lade_bag_scratch(w->bag);
        unsigned part = 0;
        *head = (struct head){0};
        const int64_t begin = lade_now();
        int status = lade_source_next(c->source, c->pipeline ? (void *)w->input : (void *)(head + 1), &head->label,
                                      &head->id, &w->error);
        const int64_t middle = lade_now();
        lade_count(&w->read_time, (uint64_t)(middle - begin));
        if (status == LADE_EMPTY)
            return;
        if (status == LADE_OK && c->split &&
            (lade_split_route_word(c->split, head->id, &part) != LADE_OK || part != c->part))
            continue;
        if (status == LADE_OK && c->pipeline) {
            const struct lade_rng_context rng = {c->seed, 0, head->id};
            status = lade_pipeline_run(c->pipeline, &rng, w->input, head + 1, w->scratch, &w->error);
            lade_count(&w->transform_time, (uint64_t)(lade_now() - middle));
        }
        if (status != LADE_OK && c->fault != LADE_FAULT_FAIL) {
            lade_count(&w->faults, 1);
            continue;
        }
        if (status != LADE_OK) {
            (void)fail(w, lade_worker_error(status));
            return;
        }
        if (!put(w))
            return;
    }
}

/* The last producer closes the bag; a superseded worker is not counted. What was put is in the bag already. */
static void leave_stream(struct lade_worker *w)
{
    struct lade_loader *l = w->loader;

    if (atomic_load_explicit(&w->committed, memory_order_relaxed) != LADE_JOB_GONE &&
        atomic_fetch_sub_explicit(&l->producers, 1, memory_order_relaxed) == 1)
        lade_bag_close(l->bag);
    lade_event_notify_all(&l->ready);
}

void lade_stream_work(struct lade_worker *w)
{
    struct lade_loader *l = w->loader;
    bool continues = true;

    if (!w->bag && lade_bag_join(l->bag, &w->bag) != LADE_OK)
        continues =
            fail(w, lade_fail(&w->error, LADE_LIMITED, NULL, LADE_NO_OFFSET, "too many workers for the buffer"));
    if (continues && !w->ids && !(w->ids = lade_heap_get(l->config.alloc, (size_t)l->config.batch, sizeof *w->ids)))
        continues = fail(w, lade_fail(&w->error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory in a worker"));
    if (continues && lade_source_info(l->config.source)->count == LADE_ENDLESS) {
        put_endless(w);
    } else if (continues) {
        uint64_t i;
        if (w->redo)
            continues = lade_job_resume(&w->committed, &i) && put_claimed(w, i);
        while (continues && claim(w))
            continues = put_claimed(w, 0);
    }
    leave_stream(w);
}

/* An error of a worker, or more faults than allowed. */
static int look_for_failure(struct lade_loader *l)
{
    uint64_t faults = 0;

    for (unsigned i = 0; i < l->workers; i++) {
        struct lade_worker *w = &l->worker[i];
        int failed = -(int)lade_load_acquire(&w->failed);
        faults += atomic_load_explicit(&w->faults, memory_order_relaxed);
        if (failed != LADE_OK) {
            l->error = w->error;
            l->error.status = failed;
            return l->ended = failed;
        }
    }
    l->faults = faults;
    if (faults <= l->config.faults_max)
        return LADE_OK;
    return l->ended = lade_fail(&l->error, LADE_LIMITED, NULL, LADE_NO_OFFSET,
                                "%llu samples had faults, more than faults_max", (unsigned long long)faults);
}

/* Whether the bag is half full, or closed. No other thread draws, so the bag need not be counted for each draw. */
static bool may_draw(struct lade_loader *l)
{
    const uint64_t half = l->config.buffer / 2;

    if (l->drawable > 0)
        return true;
    LADE_STEP();
    const uint64_t held = atomic_load_explicit(&l->puts, memory_order_relaxed) - l->delivered_samples - l->rows;
    if (held >= half)
        l->drawable = held - half + 1;
    return l->drawable > 0 || atomic_load_explicit(&l->producers, memory_order_relaxed) == 0;
}

static void notify_workers(struct lade_loader *l)
{
    l->drawn = 0;
    lade_event_notify_all(&l->reusable);
}

/* Draws until the batch is full: LADE_OK, LADE_EMPTY, or LADE_CLOSED if there are no more samples. */
static int draw(struct lade_loader *l, struct lade_batch_buffer *slot)
{
    if (l->rows == 0)
        slot->epoch = UINT64_MAX;
    while (l->rows < l->config.batch) {
        if (!may_draw(l))
            return LADE_EMPTY;
        int status = lade_bag_draw(l->drawer, NULL);
        if (status != LADE_OK)
            return status;
        const struct head *head = lade_bag_scratch(l->drawer);
        memcpy(slot->samples + l->rows * l->sample_bytes, head + 1, l->sample_bytes);
        slot->labels[l->rows] = head->label;
        slot->ids[l->rows] = head->id;
        slot->epoch = head->epoch < slot->epoch ? head->epoch : slot->epoch;
        l->rows++;
        l->drawable -= l->drawable > 0;
        if (4 * ++l->drawn >= l->config.buffer)
            notify_workers(l);
        l->waiting_since = 0;
    }
    return LADE_OK;
}

struct drawing {
    struct lade_loader *loader;
    struct lade_batch_buffer *slot;
};

static int draw_or_await(void *context, int64_t *until)
{
    const struct drawing *d = context;
    struct lade_loader *l = d->loader;
    int status = draw(l, d->slot);

    if (status != LADE_EMPTY || (status = look_for_failure(l)) != LADE_OK)
        return status;
    if (l->stage)
        lade_stage_collect(l);
    status = lade_stage_status(l, &l->error);
    if (status != LADE_OK)
        return l->ended = status;
    if (l->waiting_since == 0)
        l->waiting_since = lade_now();
    if (atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        return LADE_CANCELLED;
    status = lade_loader_supervise(l, &l->error);
    if (status != LADE_OK)
        return l->ended = status;
    notify_workers(l);
    lade_loader_recheck(l, until);
    return LADE_AWAIT;
}

static int draw_waiting(struct lade_loader *l, struct lade_batch_buffer *slot, int64_t deadline)
{
    struct drawing d = {l, slot};
    int status = draw(l, slot);

    if (status != LADE_EMPTY)
        return status;
    int64_t begin = lade_now();
    lade_batch_ring_await(&l->ring, enough(l));
    status = lade_event_await(&l->ready, draw_or_await, &d, deadline);
    l->wait_time += (uint64_t)(lade_now() - begin);
    return status;
}

/* Takes a buffer to draw into; with a device, also a slot to copy it to. */
static int take_buffer(struct lade_loader *l, int64_t deadline)
{
    if (l->stage)
        return lade_stage_await_slot(l, deadline);
    if (!l->has_partial) {
        l->has_partial = lade_batch_ring_reuse(&l->ring, &l->partial);
        l->rows = 0;
    }
    return l->has_partial ? LADE_OK : LADE_TOO_MANY; /* a concurrent release may not be visible yet */
}

int lade_stream_next(struct lade_loader *l, struct lade_batch *batch, int64_t timeout, struct lade_error *error)
{
    const int64_t deadline = lade_deadline(lade_now(), timeout);
    int status = take_buffer(l, deadline);
    if (status == LADE_TOO_MANY)
        return lade_loader_refuse_more(error);
    if (status != LADE_OK)
        return status == LADE_DEVICE ? lade_stage_status(l, error)
                                     : lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
    struct lade_batch_buffer *slot = &l->slot[l->partial];
    status = draw_waiting(l, slot, deadline);
    int failed = look_for_failure(l);
    if (failed != LADE_OK)
        status = failed;
    else if (status == LADE_CLOSED && atomic_load_explicit(&l->cancelled, memory_order_relaxed))
        status = LADE_CANCELLED; /* it closes the bag */
    else if (status == LADE_CLOSED && l->rows > 0 && !l->config.drop_last)
        status = LADE_OK;
    if (status != LADE_OK) {
        if (error && l->ended != LADE_OK)
            *error = l->error;
        else
            (void)lade_fail(error, status, NULL, LADE_NO_OFFSET, "%s", lade_status_text(status));
        return status;
    }
    l->has_partial = false;
    slot->count = l->rows;
    slot->status = LADE_OK;
    struct lade_memory *memory = slot->memory;
    if (l->stage) {
        uint64_t at = 0;
        if (!lade_stage_put(l, l->delivered, l->partial, &at))
            return lade_stage_status(l, error);
        slot = lade_stage_slot(l, at, &memory);
        lade_stage_taken(l, at);
    } else {
        lade_loader_note(l, LADE_STEP_TAKEN, l->delivered, l->partial);
    }
    lade_loader_hand_out(l, batch, l->delivered, slot, memory);
    batch->last = slot->count < l->config.batch;
    return LADE_OK;
}

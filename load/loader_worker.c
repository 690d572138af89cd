/* SPDX-License-Identifier: MIT */
/* Worker threads. */
#include "loader.h"

#include "thread.h"

#include <string.h>

bool lade_worker_is_stopped(struct lade_worker *w)
{
    /* Only ends its work early. */
    return atomic_load_explicit(&w->loader->cancelled, memory_order_relaxed) ||
           atomic_load_explicit(&w->replaced, memory_order_relaxed);
}

bool lade_worker_is_superseded(struct lade_worker *w)
{
    /* A worker that timed out with one batch may have planned another since, which no other worker makes. */
    return atomic_load_explicit(&w->loader->cancelled, memory_order_relaxed) ||
           atomic_load_explicit(&w->replaced, memory_order_relaxed) == w->job.batch + 1;
}

int lade_worker_transform(struct lade_worker *w, uint64_t epoch, uint64_t id, void *to, struct lade_error *error)
{
    const struct lade_loader *l = w->loader;
    const int64_t begin = lade_now();
    struct lade_rng_context rng = {l->config.seed, epoch, 0};
    struct lade_error reason;
    char name[256];
    int status = lade_source_read_key(l->config.source, id, &rng.id, error);

    if (status != LADE_OK)
        return status;
    status = lade_pipeline_run(l->config.pipeline, &rng, w->input, to, w->scratch, &reason);
    lade_count(&w->transform_time, (uint64_t)(lade_now() - begin));
    if (status == LADE_OK)
        return LADE_OK;
    lade_source_name(l->config.source, id, name, sizeof name);
    return lade_fail(error, status, name, LADE_NO_OFFSET, "%s", reason.text);
}

int lade_worker_make(struct lade_worker *w, uint64_t epoch, uint64_t id, void *to, int64_t *label,
                     struct lade_error *error)
{
    const struct lade_loader *l = w->loader;

    if (!l->config.pipeline)
        return lade_source_read(l->config.source, id, to, label, error);
    int64_t begin = lade_now();
    int status = lade_source_read(l->config.source, id, w->input, label, error);
    lade_count(&w->read_time, (uint64_t)(lade_now() - begin));
    return status == LADE_OK ? lade_worker_transform(w, epoch, id, to, error) : status;
}

int lade_worker_error(int status)
{
    bool is_taken = status > 0 || status == LADE_CLOSED || status == LADE_TIMEOUT || status == LADE_CANCELLED ||
                    status == LADE_TOO_MANY || status == LADE_DEVICE;

    return is_taken ? LADE_IO : status;
}

int lade_worker_apply_fault_policy(struct lade_worker *w, uint64_t epoch, uint64_t *id, void *to, int64_t *label,
                                   int status, uint64_t *faults, struct lade_error *error)
{
    const struct lade_loader *l = w->loader;

    if (status == LADE_OK || l->config.fault == LADE_FAULT_FAIL)
        return lade_worker_error(status);
    ++*faults;
    if (l->config.fault == LADE_FAULT_SKIP) {
        *id = LADE_NO_SAMPLE;
        return LADE_OK;
    }
    for (uint64_t attempt = 0; attempt < LADE_SUBSTITUTES_MAX && status != LADE_OK; attempt++) {
        uint64_t other = lade_order_substitute(&l->order, epoch, *id, attempt);
        status = lade_worker_make(w, epoch, other, to, label, error);
        if (status == LADE_OK)
            *id = other;
    }
    return lade_worker_error(status);
}

void lade_worker_note_fault(const struct lade_loader *l, struct lade_batch_buffer *slot, uint64_t id)
{
    if (l->order.mixture)
        slot->faults_of[lade_mixture_source(l->order.mixture, id)]++;
}

void lade_job_plan(const struct lade_loader *l, struct lade_walk *walk, struct lade_job *job, uint64_t *ids,
                   uint64_t *count)
{
    uint64_t left = lade_order_left(&l->order, &job->start), n = l->config.batch;

    *count = left < n ? left : n;
    job->end = job->start;
    if (l->fields && lade_fields_limits(l))
        *count = lade_fields_fit(l, walk, &job->start, ids, *count);
    if (lade_order_is_even(&l->order, job->start.epoch))
        lade_order_pass(&l->order, &job->end, *count);
    else
        lade_order_take(&l->order, walk, &job->end, ids, *count);
    lade_order_settle(&l->order, &job->end, l->config.drop_last ? n : 1);
}

void lade_job_list(const struct lade_loader *l, struct lade_walk *walk, const struct lade_job *job, uint64_t *ids,
                   uint64_t count)
{
    struct lade_cursor cursor = job->start;

    if (lade_order_is_even(&l->order, cursor.epoch))
        lade_order_take(&l->order, walk, &cursor, ids, count);
}

enum claimed { CLAIMED, NO_ROOM, NO_MORE };

/* Finds a buffer for a batch; a free one that this worker used before is preferred. */
static bool find_buffer(struct lade_worker *w)
{
    struct lade_batch_ring *r = &w->loader->ring;

    for (int i = 0; i < LADE_USED; i++)
        if (lade_batch_ring_reuse_this(r, w->used[i])) {
            w->buffer = w->used[i];
            return true;
        }
    return lade_batch_ring_reuse(r, &w->buffer);
}

/* Whether the next batch can be planned: NO_ROOM when not yet. */
static enum claimed is_due(struct lade_loader *l, const struct lade_job *job)
{
    bool last;

    if (!l->shuffle)
        return job->start.epoch < l->config.epochs ? CLAIMED : NO_MORE;
    if (lade_batch_ring_is_offered(&l->ring, job->batch, &last))
        return CLAIMED;
    return last ? NO_MORE : NO_ROOM;
}

/* Computes the end of the batch, which with lists is known already. */
static void plan(struct lade_worker *w)
{
    struct lade_batch_buffer *slot = &w->loader->slot[w->buffer];

    if (w->loader->shuffle)
        w->job.end = w->job.start;
    else if (w->loader->pack)
        lade_pack_plan(w, slot);
    else
        lade_job_plan(w->loader, &w->walk, &w->job, slot->ids, &slot->count);
}

/* Claims a batch to make, and a buffer for it. */
static enum claimed claim_batch(struct lade_worker *w)
{
    struct lade_loader *l = w->loader;
    uint64_t word[LADE_PLAN_WORDS], read;

    if (!w->has_buffer)
        w->has_buffer = find_buffer(w);
    do {
        read = lade_batch_ring_read_plan(&l->ring, word);
        w->job.batch = word[0];
        memcpy(&w->job.start, word + 1, sizeof w->job.start);
        enum claimed due = is_due(l, &w->job);
        if (due != CLAIMED || !w->has_buffer || !lade_batch_ring_has_place(&l->ring, w->job.batch)) {
            atomic_store_explicit(&w->batch, 0, memory_order_relaxed);
            return due == NO_MORE ? NO_MORE : NO_ROOM;
        }
        if (l->fields) /* planning calls the source, which may not return */
            atomic_store_explicit(&w->batch, w->job.batch + 1, memory_order_relaxed);
        plan(w);
        word[0]++;
        memcpy(word + 1, &w->job.end, sizeof w->job.end);
        /*
         * Lets the consumer see if this thread is late; a thread that fails here stores another number, or none, at
         * once.
         */
        atomic_store_explicit(&w->batch, w->job.batch + 1, memory_order_relaxed);
    } while (!lade_batch_ring_plan(&l->ring, read, word, &w->spare_plan));
    return CLAIMED;
}

static int claim_or_await(void *context, int64_t *until)
{
    struct lade_worker *w = context;
    enum claimed claimed = lade_worker_is_stopped(w) ? NO_ROOM : claim_batch(w);

    if (claimed != NO_ROOM || lade_worker_is_stopped(w))
        return (int)claimed;
    lade_event_recheck_by(until, lade_now() + WAIT_MOST);
    return LADE_AWAIT;
}

/* Waits until there is a batch to make. */
static enum claimed await_batch(struct lade_worker *w)
{
    enum claimed claimed = claim_batch(w);

    if (claimed != NO_ROOM)
        return claimed;
    lade_worker_begin_wait(w);
    claimed = (enum claimed)lade_event_await(&w->loader->reusable, claim_or_await, w, -1);
    lade_worker_end_wait(w);
    return claimed;
}

/* Reads samples from number i of the batch on, into rows from row on, up to the first error. */
static int make_some(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t i, uint64_t row, uint64_t count,
                     uint64_t *done)
{
    const struct lade_loader *l = w->loader;
    uint8_t *to = slot->samples + row * l->sample_bytes;
    int status;

    if (!l->config.pipeline) {
        status = lade_source_gather(l->config.source, slot->ids + i, count, to, slot->labels + row, done, &slot->error);
    } else {
        status = lade_worker_make(w, slot->epoch, slot->ids[i], to, &slot->labels[row], &slot->error);
        *done = status == LADE_OK;
    }
    if (row != i)
        memmove(slot->ids + row, slot->ids + i, (size_t)*done * sizeof *slot->ids);
    return status;
}

/* Lists the samples of the batch, and sets the fields that are known before they are read. */
static void list(struct lade_worker *w, struct lade_batch_buffer *slot)
{
    const struct lade_loader *l = w->loader;

    if (l->shuffle) {
        lade_shuffle_list(l, w->job.batch, slot);
    } else {
        if (!l->pack)
            lade_job_list(l, &w->walk, &w->job, slot->ids, slot->count);
        slot->epoch = w->job.start.epoch;
        slot->from = lade_loader_mine(l, &w->job.start);
        slot->end = w->job.end;
    }
    slot->faults = 0;
    if (l->order.mixture)
        memset(slot->faults_of, 0, sizeof slot->faults_of);
    slot->status = LADE_OK;
}

/* Makes the claimed batch. False: the thread must end. */
static bool fill(struct lade_worker *w)
{
    const struct lade_loader *l = w->loader;
    struct lade_batch_buffer *slot = &l->slot[w->buffer];
    int64_t begin = lade_now();

    lade_loader_note(l, LADE_STEP_MAKE, w->job.batch, w->buffer);
    list(w, slot);
    if (l->fields) {
        const bool filled = l->pack ? lade_pack_fill(w, slot) : lade_fields_fill(w, slot);
        lade_loader_note(l, LADE_STEP_MADE, w->job.batch, w->buffer);
        return filled;
    }
    const uint64_t n = slot->count;
    uint64_t row = 0;
    lade_batch_buffer_use(l, slot, slot->memory, n);
    for (uint64_t i = 0, done; i < n;) {
        if (lade_worker_is_superseded(w))
            return false;
        int status = make_some(w, slot, i, row, n - i < LADE_AT_ONCE ? n - i : LADE_AT_ONCE, &done);
        i += done;
        row += done;
        if (status == LADE_OK)
            continue;
        const uint64_t epoch = l->shuffle ? lade_shuffle_epoch(l, w->job.batch, i) : slot->epoch;
        uint64_t id = slot->ids[i++];
        lade_worker_note_fault(l, slot, id);
        status = lade_worker_apply_fault_policy(w, epoch, &id, slot->samples + row * l->sample_bytes,
                                                &slot->labels[row], status, &slot->faults, &slot->error);
        if (status != LADE_OK) {
            slot->status = status;
            break;
        }
        if (id != LADE_NO_SAMPLE)
            slot->ids[row++] = id;
    }
    slot->count = row;
    lade_loader_note(l, LADE_STEP_MADE, w->job.batch, w->buffer);
    if (!l->config.pipeline)
        lade_count(&w->read_time, (uint64_t)(lade_now() - begin));
    return true;
}

/* Moves the buffer to the front of those used last. */
static void remember(struct lade_worker *w)
{
    int i = 0;

    while (i < LADE_USED - 1 && w->used[i] != w->buffer)
        i++;
    for (; i > 0; i--)
        w->used[i] = w->used[i - 1];
    w->used[0] = w->buffer;
}

static void hand_over(struct lade_worker *w)
{
    struct lade_loader *l = w->loader;

    if (lade_batch_ring_publish(&l->ring, w->job.batch, w->buffer)) {
        w->has_buffer = false;
        remember(w);
        lade_batch_ring_notify(&l->ring, &l->ready, w->job.batch);
    }
    atomic_store_explicit(&w->batch, 0, memory_order_relaxed);
}

/*
 * Plans the job of another worker again. Where lengths decide where a batch ends, the source may report others this time,
 * so the end is read from the plan while that has it; afterwards the consumer compares. False: the job was never planned.
 */
static bool plan_again(struct lade_worker *w)
{
    const struct lade_loader *l = w->loader;
    struct lade_batch_buffer *slot = &l->slot[w->buffer];
    uint64_t word[LADE_PLAN_WORDS];

    if (!l->fields || !lade_fields_limits(l)) {
        plan(w);
        return true;
    }
    lade_batch_ring_read_plan(&w->loader->ring, word);
    if (word[0] == w->job.batch)
        return false;
    if (word[0] > w->job.batch + 1) {
        plan(w);
        return true;
    }
    memcpy(&w->job.end, word + 1, sizeof w->job.end);
    const bool is_last = w->job.end.epoch != w->job.start.epoch; /* of its epoch */
    slot->count = lade_order_left(&l->order, &w->job.start) - (is_last ? 0 : lade_order_left(&l->order, &w->job.end));
    struct lade_cursor cursor = w->job.start;
    lade_order_take(&l->order, &w->walk, &cursor, slot->ids, slot->count);
    return true;
}

static void work_in_epochs(struct lade_worker *w)
{
    if (w->redo && plan_again(w)) {
        if (!fill(w))
            return;
        hand_over(w);
    }
    while (!lade_worker_is_stopped(w) && await_batch(w) == CLAIMED && fill(w))
        hand_over(w);
}

bool lade_worker_assist(struct lade_worker *w)
{
    int64_t begin = lade_now();

    if (claim_batch(w) != CLAIMED || !fill(w))
        return false;
    hand_over(w);
    lade_count(&w->running_time, (uint64_t)(lade_now() - begin));
    return true;
}

/* Runs at the end of a thread, also when a user callback ended it. */
static void leave(void *context)
{
    struct lade_worker *w = context;
    struct lade_loader *l = w->loader;
    bool lost = !w->finished;

    lade_thread_leave();
    lade_count(&w->running_time, (uint64_t)(lade_now() - atomic_load_explicit(&w->begin, memory_order_relaxed)));
    /* A lost worker keeps its buffer for the thread that replaces it. */
    if (!lost && w->has_buffer) {
        w->has_buffer = false;
        lade_batch_ring_give(&l->ring, w->buffer);
    }
    lade_store_release(&w->state, lost ? LADE_WORKER_LOST : LADE_WORKER_ENDED);
    lade_event_notify_all(&l->ready);
    lade_event_notify_all(&l->reusable);
}

static void *work(void *context)
{
    struct lade_worker *w = context;

    (void)!lade_thread_enter(); /* create has made sure that it succeeds */
    pthread_cleanup_push(leave, w);
    if (w->loader->bag)
        lade_stream_work(w);
    else
        work_in_epochs(w);
    w->finished = true;
    pthread_cleanup_pop(1);
    return NULL;
}

int lade_worker_start(struct lade_worker *w)
{
    w->walk.ready = false;
    w->finished = false;
    atomic_store_explicit(&w->begin, lade_now(), memory_order_relaxed);
    atomic_store_explicit(&w->state, LADE_WORKER_RUNS, memory_order_relaxed); /* the thread starts after this */
    if (lade_thread_start(&w->thread, work, w))
        return LADE_OK;
    atomic_store_explicit(&w->state, LADE_WORKER_NONE, memory_order_relaxed);
    return LADE_NO_MEMORY;
}

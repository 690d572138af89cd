/* SPDX-License-Identifier: MIT */
/*
 * The real loader, workers and consumer, over an order and a source that are small enough for a checker: each epoch has
 * one batch and each batch one sample. The sample's number is the epoch, and its bytes follow from it. Threads 0 to
 * WORKERS - 1 are workers, the last one is the consumer. LATER workers may replace others.
 */
#define LADE_PLAN_WORDS 2
#define LADE_USED 1
#include "no_heap.h"
#include "loader.h"

#include <string.h>

#ifndef WORKERS
#define WORKERS (THREADS - 1)
#endif
#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef SPARE
#define SPARE 0 /* buffers that no worker begins with */
#endif
#ifndef LATER
#define LATER 0
#endif
#define WORKERS_MAX (WORKERS + LATER)
#define BUFFERS (SPARE + WORKERS_MAX)
#define PLACES 4
_Static_assert(PLACES >= BUFFERS, "a place for each buffer");

/* A position in the order consists only of the epoch. GenMC does not support memcpy. */
static void *copy(void *to, const void *from, size_t size)
{
    assert(size == sizeof(struct lade_cursor));
    *(uint64_t *)to = *(const uint64_t *)from;
    return to;
}
#define memcpy copy
#define memmove(to, from, size) assert(0)

/* No thread ends inside a user callback. */
#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(function, argument) void *last = (argument)
#define pthread_cleanup_pop(run) leave(last)

#include "reclaim/without_thread.h"

#include "ref.c"

#include "loader.c"
#include "loader_memory.c"
#include "loader_replace.c"
#include "loader_worker.c"

/* A tensor or a detached batch is released. */
static _Atomic int leaves;
void lade_loader_leave(struct lade_loader *l)
{
    (void)l;
    atomic_fetch_add_explicit(&leaves, 1, memory_order_relaxed);
}

/* There is no device. */
bool lade_stage_has(const struct lade_loader *l, uint64_t at)
{
    (void)l, (void)at;
    return false;
}

int lade_stage_status(const struct lade_loader *l, struct lade_error *error)
{
    (void)l, (void)error;
    return LADE_OK;
}

int lade_stage_error(const struct lade_loader *l, int status, struct lade_error *error)
{
    (void)l, (void)error;
    return status;
}

bool lade_loader_is_here(const struct lade_loader *l)
{
    (void)l;
    return true;
}

int lade_thread_enter(void)
{
    return LADE_OK;
}

void lade_thread_leave(void)
{
}

uint64_t lade_order_left(const struct lade_order *order, const struct lade_cursor *cursor)
{
    (void)order, (void)cursor;
    return 1;
}

bool lade_order_is_even(const struct lade_order *order, uint64_t epoch)
{
    (void)order, (void)epoch;
    return true;
}

void lade_order_pass(const struct lade_order *order, struct lade_cursor *cursor, uint64_t count)
{
    (void)order;
    cursor->epoch += count;
}

void lade_order_settle(const struct lade_order *order, struct lade_cursor *cursor, uint64_t least)
{
    (void)order, (void)cursor, (void)least;
}

void lade_order_take(const struct lade_order *order, struct lade_walk *walk, struct lade_cursor *cursor, uint64_t *ids,
                     uint64_t count)
{
    (void)order, (void)walk;
    assert(count == 1);
    ids[0] = cursor->epoch;
}

uint64_t lade_order_mine(const struct lade_order *order, const struct lade_cursor *cursor)
{
    (void)order, (void)cursor;
    return 0;
}

/* The source is not a mixture. */
unsigned lade_mixture_source(const struct lade_mixture *mixture, uint64_t id)
{
    (void)mixture, (void)id;
    assert(0);
    return 0;
}

const struct lade_source_info *lade_source_info(const struct lade_source *source)
{
    (void)source;
    assert(0);
    return NULL;
}

static uint64_t bytes_of(uint64_t id)
{
    return 3 * id + 5;
}

int lade_source_gather(struct lade_source *source, const uint64_t *ids, uint64_t count, void *to, int64_t *labels,
                       uint64_t *done, struct lade_error *error)
{
    (void)source, (void)error;
    assert(count == 1);
    *(uint64_t *)to = bytes_of(ids[0]);
    labels[0] = (int64_t)ids[0];
    *done = 1;
    return LADE_OK;
}

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    (void)error, (void)name, (void)offset, (void)format;
    return status;
}

bool lade_thread_start(pthread_t *thread, void *(*body)(void *context), void *context)
{
    return pthread_create(thread, NULL, body, context) == 0;
}

const char *lade_status_text(int status)
{
    (void)status;
    return "";
}

/* Not modelled: pipelines, fields, faults, stream mode, statistics. */
#define NEVER(type, name, parameters)                                                                                  \
    type name parameters                                                                                               \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
NEVER(int, lade_source_read,
      (struct lade_source * source, uint64_t i, void *to, int64_t *label, struct lade_error *error))
NEVER(int, lade_source_read_key,
      (const struct lade_source *source, uint64_t i, uint64_t *key, struct lade_error *error))
NEVER(void, lade_source_name, (const struct lade_source *source, uint64_t i, char *to, size_t size))
NEVER(int, lade_pipeline_run,
      (const struct lade_pipeline *pipeline, const struct lade_rng_context *rng, const void *from, void *to,
       void *scratch, struct lade_error *error))
NEVER(uint64_t, lade_order_length, (const struct lade_order *order, uint64_t epoch))
NEVER(uint64_t, lade_order_substitute, (const struct lade_order *order, uint64_t epoch, uint64_t id, uint64_t attempt))
NEVER(int, lade_loader_refuse_child, (struct lade_error * error))
NEVER(uint32_t, lade_fork_generation, (void))
NEVER(bool, lade_stage_find, (struct lade_loader * l, uint64_t *batch, uint64_t *at))
NEVER(struct lade_batch_buffer *, lade_stage_slot, (struct lade_loader * l, uint64_t at, struct lade_memory **of))
NEVER(bool, lade_stage_is_held, (const struct lade_loader *l))
NEVER(void, lade_stage_taken, (struct lade_loader * l, uint64_t at))
NEVER(void, lade_stage_released, (struct lade_loader * l, uint64_t at))
NEVER(void, lade_stage_replace, (struct lade_loader * l, uint64_t at, struct lade_memory *of))
NEVER(void, lade_stage_recheck, (const struct lade_loader *l, int64_t *until))
NEVER(void, lade_stage_stats, (const struct lade_loader *l, struct lade_loader_stats *stats))
NEVER(int, lade_stage_fail, (struct lade_loader * l, const struct lade_device_failure *failure))
NEVER(int, lade_memory_await, (struct lade_memory * m, bool all_marks, int64_t deadline))
NEVER(void, lade_bag_close, (struct lade_bag * bag))
NEVER(void, lade_stream_work, (struct lade_worker * w))
NEVER(bool, lade_stream_supersede, (struct lade_worker * late, struct lade_worker *w))
NEVER(int, lade_stream_next,
      (struct lade_loader * l, struct lade_batch *batch, int64_t timeout, struct lade_error *error))

NEVER(size_t, lade_fields_block, (const struct lade_loader *l))
NEVER(bool, lade_fields_limits, (const struct lade_loader *l))
NEVER(uint64_t, lade_fields_fit,
      (const struct lade_loader *l, struct lade_walk *walk, const struct lade_cursor *from, uint64_t *ids,
       uint64_t count))
NEVER(bool, lade_fields_fill, (struct lade_worker * w, struct lade_batch_buffer *slot))
NEVER(void, lade_fields_show, (struct lade_memory * m, const struct lade_batch_buffer *slot))

NEVER(uint64_t, lade_pack_mine, (const struct lade_cursor *cursor))
NEVER(void, lade_pack_plan, (struct lade_worker * w, struct lade_batch_buffer *slot))
NEVER(bool, lade_pack_fill, (struct lade_worker * w, struct lade_batch_buffer *slot))
NEVER(const char *, lade_pack_guarantee, (const struct lade_loader *l))

#ifndef SHUFFLE
NEVER(bool, lade_shuffle_taken, (struct lade_loader * l, uint64_t batch))
NEVER(bool, lade_shuffle_is_over, (const struct lade_loader *l))
NEVER(void, lade_shuffle_list, (const struct lade_loader *l, uint64_t batch, struct lade_batch_buffer *slot))
NEVER(uint64_t, lade_shuffle_epoch, (const struct lade_loader *l, uint64_t batch, uint64_t i))
#endif

static struct lade_loader loader;
static struct lade_worker worker[WORKERS_MAX];
static struct lade_plan plans[WORKERS_MAX + 1];
static _Atomic uint64_t place[PLACES], buffers_free[1];
static struct lade_batch_buffer slot[BUFFERS];
static uint64_t ids[BUFFERS];
static struct lade_memory memory[BUFFERS];
/* A block with one sample. */
static struct {
    _Alignas(LADE_DEVICE_ALIGN) uint64_t sample;
    _Alignas(LADE_DEVICE_ALIGN) int64_t label;
} block[BUFFERS];
static bool taken[PLACES];
static struct lade_cursor ends[PLACES];
static uint64_t froms[PLACES];

int lade_worker_add(struct lade_loader *l, struct lade_worker **added, struct lade_error *error)
{
    struct lade_worker *w = &worker[l->workers];

    assert(l->workers < WORKERS_MAX);
    w->loader = l;
    w->spare_plan = ++l->workers; /* plan record 0 is the first plan */
    w->buffer = SPARE + w->spare_plan - 1;
    w->has_buffer = true;
    (void)error;
    *added = w;
    return LADE_OK;
}

static void reset_worker(struct lade_worker *w)
{
    atomic_init(&w->state, LADE_WORKER_NONE);
    atomic_init(&w->replaced, false);
    atomic_init(&w->batch, 0);
    w->redo = w->finished = false;
    for (int i = 0; i < LADE_USED; i++)
        w->used[i] = 0;
}

/* A loader of n batches with all its workers running. */
static void make_loader(uint64_t batches)
{
    struct lade_loader *l = &loader;

    l->tensors = LADE_BATCH_TENSORS;
    l->sample_bytes = sizeof block[0].sample;
    for (int i = 0; i < BUFFERS; i++) {
        memory[i].loader = l;
        memory[i].slot = (uint64_t)i;
        memory[i].block = &block[i];
        memory[i].ids = &ids[i];
        block[i].sample = ids[i] = 0;
        lade_batch_buffer_use(l, &slot[i], &memory[i], 1);
    }
    for (int i = 0; i < PLACES; i++) {
        atomic_init(&place[i], 0);
        taken[i] = false;
    }
    for (int i = 0; i <= WORKERS_MAX; i++)
        for (int j = 0; j < LADE_PLAN_WORDS; j++)
            atomic_init(&plans[i].word[j], i ? 77 : 0);
    l->config.batch = l->samples_max = 1;
    l->config.epochs = batches;
    l->config.slots = SLOTS;
    l->config.in_order = true;
    l->config.faults_max = UINT64_MAX;
    l->config.replaced_max = LATER;
    l->config.worker_timeout = LADE_FOREVER;
    l->buffers_max = BUFFERS;
    l->slot = slot;
    l->worker = worker;
    l->taken = taken;
    l->end = ends;
    l->from = froms;
    l->ring.plans = plans;
    l->ring.place = place;
    l->ring.places = PLACES;
    l->ring.free = buffers_free;
    l->ring.free_words = 1;
    atomic_init(&l->ring.plan, 0);
    atomic_init(&l->ring.low, 0);
    atomic_init(&l->ring.offered, 0);
    atomic_init(&l->ring.awaited, 0);
    atomic_init(&buffers_free[0], (UINT64_C(1) << SPARE) - 1);
    lade_event_init(&l->ready);
    lade_event_init(&l->reusable);
    atomic_init(&l->cancelled, 0);
    atomic_init(&l->held, 0);
    atomic_init(&l->freed, 0);
    l->next.epoch = l->low = l->delivered = l->replaced = l->workers = 0;
    l->ended = LADE_OK;
    l->waiting_since = 0;
    for (int i = 0; i < WORKERS_MAX; i++)
        reset_worker(&worker[i]);
    for (int i = 0; i < WORKERS; i++) {
        struct lade_worker *w;
        assert(lade_worker_add(l, &w, NULL) == LADE_OK);
        atomic_init(&w->state, LADE_WORKER_RUNS);
    }
}

/* Takes the next batch and checks it. */
static int take_next(uint64_t number, int64_t timeout, struct lade_batch *batch)
{
    static struct lade_error error;
    int status = lade_loader_next(&loader, batch, timeout, &error);

    if (status == LADE_OK) {
        assert(batch->number == number && batch->epoch == number && batch->count == 1 && batch->ids[0] == number);
        assert(*(uint64_t *)batch->samples == bytes_of(number) && batch->labels[0] == (int64_t)number);
    }
    return status;
}

/*
 * All threads have ended: takes the remaining batches, and checks that each buffer is free or with a worker and that no
 * plan record is lost.
 */
static void take_rest(uint64_t number)
{
    static struct lade_batch batch;
    uint64_t plans_seen = UINT64_C(1) << (atomic_load(&loader.ring.plan) & LADE_PLAN_MASK), buffers = 0;

    for (; number < loader.config.epochs; number++) {
        assert(take_next(number, 0, &batch) == LADE_OK);
        lade_loader_release(&loader, &batch);
    }
    assert(take_next(number, 0, &batch) == LADE_CLOSED);
    for (unsigned i = 0; i < loader.workers; i++) {
        plans_seen |= UINT64_C(1) << worker[i].spare_plan;
        buffers += worker[i].has_buffer ? UINT64_C(1) << worker[i].buffer : 0;
        /* An idle worker does not count as late. */
        uint64_t batch = atomic_load(&worker[i].batch);
        assert(batch == 0 || batch == atomic_load(&worker[i].replaced));
    }
    assert(buffers + atomic_load(&buffers_free[0]) == (UINT64_C(1) << (SPARE + loader.workers)) - 1);
    assert(plans_seen == (UINT64_C(2) << loader.workers) - 1);
}

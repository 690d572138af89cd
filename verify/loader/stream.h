/* SPDX-License-Identifier: MIT */
/*
 * Stream mode with a bag that is small enough for a checker: elements are only counted. Threads 0 to WORKERS - 1 are
 * workers, the last one is the consumer.
 */
#define LADE_PLAN_WORDS 2
#include "no_heap.h"
#include "loader.h"

#include <string.h>

#define WORKERS (THREADS - 1)
#ifndef CAPACITY
#define CAPACITY BUFFER /* of the bag; with less it is full sooner */
#endif

static struct lade_loader loader;
static struct lade_worker worker[WORKERS];
static _Atomic uint64_t inside, closed, buffers_free[1];
static struct lade_batch_buffer slot[1];
static uint64_t samples[BATCH], ids[BATCH];
static int64_t labels[BATCH];

struct lade_bag {
    int unused;
};
struct lade_bag_handle {
    int number; /* of the worker; -1 for the consumer */
};
static struct lade_bag bag;
static struct lade_bag_handle handle[THREADS];

int lade_bag_put(struct lade_bag_handle *h, const void *element)
{
    uint64_t n = atomic_load_explicit(&inside, memory_order_seq_cst);

    (void)element;
    do
        if (n == CAPACITY)
            return LADE_FULL;
    while (!atomic_compare_exchange_strong_explicit(&inside, &n, n + 1, memory_order_seq_cst, memory_order_seq_cst));
    assert(h->number >= 0);
    return LADE_OK;
}

int lade_bag_draw(struct lade_bag_handle *h, void *element)
{
    uint64_t n = atomic_load_explicit(&inside, memory_order_seq_cst);

    (void)element;
    assert(h->number < 0);
    do
        if (n == 0) /* a counted put may not be visible yet */
            return atomic_load_explicit(&closed, memory_order_seq_cst) ? LADE_CLOSED : LADE_EMPTY;
    while (!atomic_compare_exchange_strong_explicit(&inside, &n, n - 1, memory_order_seq_cst, memory_order_seq_cst));
    return LADE_OK;
}

void lade_bag_close(struct lade_bag *b)
{
    assert(b == &bag);
    atomic_store_explicit(&closed, 1, memory_order_seq_cst);
}

void *lade_bag_scratch(struct lade_bag_handle *h)
{
    static uint64_t memory[5]; /* a sample and its header */

    assert(h->number < 0);
    return memory;
}

/* GenMC and explore track words; a sample is one. */
static void *copy(void *to, const void *from, size_t size)
{
    assert(size == sizeof(uint64_t));
    *(uint64_t *)to = *(const uint64_t *)from;
    return to;
}
#define memcpy copy

#include "loader_stream.c"

int lade_fail(struct lade_error *error, int status, const char *name, uint64_t offset, const char *format, ...)
{
    (void)error, (void)name, (void)offset, (void)format;
    return status;
}

int lade_loader_supervise(struct lade_loader *l, struct lade_error *error)
{
    (void)l, (void)error;
    return LADE_OK;
}

void lade_loader_recheck(const struct lade_loader *l, int64_t *until)
{
    (void)l, (void)until;
}

/* There is no device. */
int lade_stage_status(const struct lade_loader *l, struct lade_error *error)
{
    (void)l, (void)error;
    return LADE_OK;
}

/* The parts of the real one that whole.h has. */
void lade_loader_hand_out(struct lade_loader *l, struct lade_batch *batch, uint64_t number,
                          const struct lade_batch_buffer *from, struct lade_memory *memory)
{
    (void)number, (void)memory;
    batch->count = from->count;
    l->delivered++;
    l->delivered_samples += from->count;
}

const char *lade_status_text(int status)
{
    (void)status;
    return "";
}

#define NEVER(type, name, parameters)                                                                                  \
    type name parameters                                                                                               \
    {                                                                                                                  \
        abort();                                                                                                       \
    }
NEVER(int, lade_loader_refuse_more, (struct lade_error * error))
NEVER(void, lade_stage_collect, (struct lade_loader * l))
NEVER(int, lade_stage_await_slot, (struct lade_loader * l, int64_t deadline))
NEVER(bool, lade_stage_put, (struct lade_loader * l, uint64_t batch, uint64_t buffer, uint64_t *at))
NEVER(struct lade_batch_buffer *, lade_stage_slot, (struct lade_loader * l, uint64_t at, struct lade_memory **memory))
NEVER(void, lade_stage_taken, (struct lade_loader * l, uint64_t at))
NEVER(int, lade_bag_create_sized, (struct lade_bag * *b, const struct lade_bag_config *config, size_t size))
NEVER(int, lade_bag_join, (struct lade_bag * b, struct lade_bag_handle **h))
NEVER(int, lade_worker_make,
      (struct lade_worker * w, uint64_t epoch, uint64_t id, void *to, int64_t *label, struct lade_error *error))
NEVER(int, lade_worker_apply_fault_policy,
      (struct lade_worker * w, uint64_t epoch, uint64_t *id, void *to, int64_t *label, int status, uint64_t *faults,
       struct lade_error *error))
NEVER(int, lade_worker_error, (int status))
NEVER(bool, lade_worker_is_stopped, (struct lade_worker * w))
NEVER(bool, lade_worker_is_superseded, (struct lade_worker * w))
NEVER(void, lade_job_plan,
      (const struct lade_loader *l, struct lade_walk *walk, struct lade_job *job, uint64_t *to, uint64_t *count))
NEVER(void, lade_job_list,
      (const struct lade_loader *l, struct lade_walk *walk, const struct lade_job *job, uint64_t *to, uint64_t count))
NEVER(int, lade_source_next,
      (struct lade_source * source, void *to, int64_t *label, uint64_t *key, struct lade_error *error))
NEVER(const struct lade_source_info *, lade_source_info, (const struct lade_source *source))
NEVER(int, lade_split_route_word, (struct lade_split * split, uint64_t word, unsigned *part))
NEVER(int, lade_pipeline_run,
      (const struct lade_pipeline *pipeline, const struct lade_rng_context *rng, const void *from, void *to,
       void *scratch, struct lade_error *error))

/* Workers are about to put; nothing was put yet. */
static void make_loader(void)
{
    struct lade_loader *l = &loader;

    l->config.batch = BATCH;
    l->config.buffer = BUFFER;
    l->config.slots = 1;
    l->config.faults_max = UINT64_MAX;
    l->sample_bytes = sizeof samples[0];
    l->slot = slot;
    slot[0].samples = (uint8_t *)samples;
    slot[0].labels = labels;
    slot[0].ids = ids;
    l->bag = &bag;
    l->drawer = &handle[WORKERS];
    l->worker = worker;
    l->workers = WORKERS;
    l->ring.free = buffers_free;
    l->ring.free_words = 1;
    l->has_partial = false;
    l->drawable = l->drawn = l->delivered = l->delivered_samples = l->wait_time = 0;
    l->waiting_since = 0;
    l->ended = LADE_OK;
    atomic_init(&l->ring.awaited, 0);
    atomic_init(&l->producers, WORKERS);
    atomic_init(&l->puts, 0);
    atomic_init(&l->cancelled, 0);
    atomic_init(&l->held, 0);
    atomic_init(&buffers_free[0], 1);
    lade_event_init(&l->ready);
    lade_event_init(&l->reusable);
    atomic_init(&inside, 0);
    atomic_init(&closed, 0);
    for (int i = 0; i < WORKERS; i++) {
        worker[i].loader = l;
        worker[i].bag = &handle[i];
        handle[i].number = i;
        atomic_init(&worker[i].committed, 0);
        atomic_init(&worker[i].failed, 0);
        atomic_init(&worker[i].faults, 0);
        atomic_init(&worker[i].wait_time, 0);
    }
    handle[WORKERS].number = -1;
}

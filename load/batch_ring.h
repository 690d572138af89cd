/* SPDX-License-Identifier: MIT */
/*
 * Shared state of workers and consumer: the plan of the next batch, the ring of finished batches, the free memory.
 * Internal.
 *
 * Plan     A plan record holds the start of the next batch. A worker reads it, computes the end of the batch, writes
 *          that to a spare record and swaps the records by compare-and-swap. The worker that succeeds makes the batch
 *          and keeps the old record as its spare.
 * Ring     Batch k goes to slot k % places, as the number of the buffer that holds it. Two workers may make the same
 *          batch, after one timed out: the first to publish wins, the other keeps its buffer. A batch is planned only
 *          after the consumer has finished with the previous batch of its slot.
 * Buffers  A worker makes a batch in a buffer that no other thread knows; the consumer gets the buffer itself. So a
 *          late worker writes to memory that no thread reads.
 */
#ifndef LADE_LOAD_BATCH_RING_H
#define LADE_LOAD_BATCH_RING_H

#include "event.h"
#include "step.h"

#include <lade/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef LADE_PLAN_WORDS
#define LADE_PLAN_WORDS 9
#endif
#define LADE_PLAN_BITS 16 /* of the number of a plan record, and of a buffer */
#define LADE_PLAN_MASK ((UINT64_C(1) << LADE_PLAN_BITS) - 1)

/* Word 0 is the number of the batch. A record that is not the current plan may change while it is read. */
struct lade_plan {
    _Atomic uint64_t word[LADE_PLAN_WORDS];
};

struct lade_batch_ring {
    _Alignas(64) _Atomic uint64_t plan; /* upper bits: version; lower bits: number of the plan record */
    _Alignas(64) _Atomic uint64_t low;  /* all batches below it were taken by the consumer */
    _Atomic uint64_t offered;           /* 2 * batches with a list, + 1 if there are no others; see loader_shuffle.c */
    _Alignas(64) _Atomic uint64_t awaited; /* batch that the consumer waits for */
    _Alignas(64) struct lade_plan *plans;
    _Atomic uint64_t *place; /* upper bits: number of the batch + 1; lower bits: buffer; 0: none yet */
    uint64_t places;         /* a power of two */
    _Atomic uint64_t *free;  /* a bit for each buffer */
    unsigned free_words;
};

/* Copies the current plan record; the result is for lade_batch_ring_plan(). */
static inline uint64_t lade_batch_ring_read_plan(struct lade_batch_ring *r, uint64_t word[LADE_PLAN_WORDS])
{
    for (;;) {
        LADE_STEP();
        uint64_t plan = atomic_load_explicit(&r->plan, memory_order_acquire); /* [loader.read] -> [loader.plan] */
        const struct lade_plan *record = &r->plans[plan & LADE_PLAN_MASK];

        for (int i = 0; i < LADE_PLAN_WORDS; i++) {
            LADE_STEP();
            word[i] =
                atomic_load_explicit(&record->word[i], memory_order_acquire); /* [loader.word] -> [loader.write] */
        }
        LADE_STEP();
        /* A thread that has observed a word of a later plan observes here that the plan has changed. */
        if (atomic_load_explicit(&r->plan, memory_order_relaxed) == plan)
            return plan;
    }
}

/* Replaces the plan that was read by the next; *spare is a plan record of the caller, before and after. */
static inline bool lade_batch_ring_plan(struct lade_batch_ring *r, uint64_t read, const uint64_t word[LADE_PLAN_WORDS],
                                        uint64_t *spare)
{
    for (int i = 0; i < LADE_PLAN_WORDS; i++) {
        LADE_STEP();
        atomic_store_explicit(&r->plans[*spare].word[i], word[i],
                              memory_order_release); /* [loader.write] -> [loader.word] */
    }
    LADE_STEP();
    uint64_t next = ((read >> LADE_PLAN_BITS) + 1) << LADE_PLAN_BITS | *spare;
    if (!atomic_compare_exchange_strong_explicit(&r->plan, &read, next, memory_order_release,
                                                 memory_order_relaxed)) /* [loader.plan] -> [loader.read] */
        return false;
    *spare = read & LADE_PLAN_MASK;
    return true;
}

/* Whether the consumer has finished with the slot of this batch. */
static inline bool lade_batch_ring_has_place(struct lade_batch_ring *r, uint64_t batch)
{
    LADE_STEP();
    /* Relaxed: the publisher's compare-and-swap finds in the slot the value that the consumer has read there. */
    uint64_t low = atomic_load_explicit(&r->low, memory_order_relaxed);

    return batch < low + r->places;
}

/* The consumer has written the lists of this many batches; last: there are no others. */
static inline void lade_batch_ring_offer(struct lade_batch_ring *r, uint64_t batches, bool last)
{
    LADE_STEP();
    atomic_store_explicit(&r->offered, 2 * batches + last,
                          memory_order_release); /* [loader.offer] -> [loader.offered] */
}

/* Whether the batch has a list. *last: it has none, and will have none. */
static inline bool lade_batch_ring_is_offered(struct lade_batch_ring *r, uint64_t batch, bool *last)
{
    LADE_STEP();
    uint64_t offered = atomic_load_explicit(&r->offered, memory_order_acquire); /* [loader.offered] -> [loader.offer] */

    *last = batch >= offered / 2 && offered % 2;
    return batch < offered / 2;
}

/* Publishes the batch. False: another worker has, and the caller keeps the buffer. */
static inline bool lade_batch_ring_publish(struct lade_batch_ring *r, uint64_t batch, uint64_t buffer)
{
    _Atomic uint64_t *place = &r->place[batch & (r->places - 1)];

    LADE_STEP();
    uint64_t seen = atomic_load_explicit(place, memory_order_relaxed);
    while (seen >> LADE_PLAN_BITS <= batch) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(place, &seen, (batch + 1) << LADE_PLAN_BITS | buffer,
                                                    memory_order_release,
                                                    memory_order_relaxed)) /* [loader.publish] -> [loader.look] */
            return true;
    }
    return false;
}

/* The consumer checks for a batch that it has not taken yet. */
static inline bool lade_batch_ring_look(struct lade_batch_ring *r, uint64_t batch, uint64_t *buffer)
{
    LADE_STEP();
    uint64_t seen = atomic_load_explicit(&r->place[batch & (r->places - 1)],
                                         memory_order_acquire); /* [loader.look] -> [loader.publish] */

    if (seen >> LADE_PLAN_BITS != batch + 1)
        return false;
    *buffer = seen & LADE_PLAN_MASK;
    return true;
}

/* The consumer has taken all batches below low; an event notifies the threads that wait for that. */
static inline void lade_batch_ring_advance(struct lade_batch_ring *r, uint64_t low)
{
    LADE_STEP();
    atomic_store_explicit(&r->low, low, memory_order_relaxed);
}

static inline void lade_batch_ring_give(struct lade_batch_ring *r, uint64_t buffer)
{
    LADE_STEP();
    atomic_fetch_or_explicit(&r->free[buffer / 64], UINT64_C(1) << buffer % 64,
                             memory_order_release); /* [loader.give] -> [loader.reuse] */
}

/* Takes one of the free buffers of a word that mask selects. The number of its bit, or 64. */
static inline unsigned lade_batch_ring_take(_Atomic uint64_t *free, uint64_t mask)
{
    LADE_STEP();
    uint64_t seen = atomic_load_explicit(free, memory_order_relaxed);

    while (seen & mask) {
        uint64_t bit = (seen & mask) & (0 - (seen & mask));
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(free, &seen, seen & ~bit, memory_order_acquire,
                                                    memory_order_acquire)) /* [loader.reuse] -> [loader.give] */
            return (unsigned)__builtin_ctzll(bit);
    }
    return 64;
}

/* Takes a free buffer: any, or only this one. */
static inline bool lade_batch_ring_reuse(struct lade_batch_ring *r, uint64_t *buffer)
{
    for (unsigned i = 0; i < r->free_words; i++) {
        unsigned bit = lade_batch_ring_take(&r->free[i], UINT64_MAX);
        *buffer = i * UINT64_C(64) + bit;
        if (bit < 64)
            return true;
    }
    return false;
}

static inline bool lade_batch_ring_reuse_this(struct lade_batch_ring *r, uint64_t buffer)
{
    return lade_batch_ring_take(&r->free[buffer / 64], UINT64_C(1) << buffer % 64) < 64;
}

/* The consumer is about to wait for this batch, by lade_event_await(). */
#define LADE_ANY_BATCH UINT64_MAX
static inline void lade_batch_ring_await(struct lade_batch_ring *r, uint64_t batch)
{
    LADE_STEP();
    atomic_store_explicit(&r->awaited, batch, memory_order_relaxed); /* the event carries it */
}

/* A batch was published: wakes the consumer if it waits for this one. */
static inline void lade_batch_ring_notify(struct lade_batch_ring *r, struct lade_event *ready, uint64_t batch)
{
    if (!lade_event_is_awaited(ready))
        return;
    LADE_STEP();
    uint64_t awaited = atomic_load_explicit(&r->awaited, memory_order_relaxed);
    if (awaited == batch || awaited == LADE_ANY_BATCH)
        lade_event_wake_all(ready);
}

/* Publishes a word: the load that observes it also observes what was written before the store. */
static inline void lade_store_release(_Atomic uint32_t *word, uint32_t what)
{
    LADE_STEP();
    atomic_store_explicit(word, what, memory_order_release); /* [loader.store_release] -> [loader.load_acquire] */
}

static inline uint32_t lade_load_acquire(_Atomic uint32_t *word)
{
    LADE_STEP();
    return atomic_load_explicit(word, memory_order_acquire); /* [loader.load_acquire] -> [loader.store_release] */
}

/*
 * Samples of a job, each of which counts once: its worker commits them one by one, until another worker takes the rest.
 * The word holds the number of committed samples, or one of these.
 */
#define LADE_JOB_NONE (UINT64_MAX - 1)
#define LADE_JOB_GONE UINT64_MAX

/* The job is written. Only while the word is LADE_JOB_NONE. */
static inline void lade_job_begin(_Atomic uint64_t *committed)
{
    LADE_STEP();
    atomic_store_explicit(committed, 0, memory_order_release); /* [loader.begin] -> [loader.supersede] */
}

/* Where a worker that starts with a job continues. False: it was superseded before it started. */
static inline bool lade_job_resume(_Atomic uint64_t *committed, uint64_t *i)
{
    LADE_STEP();
    *i = atomic_load_explicit(committed, memory_order_relaxed); /* the job was written before the thread was started */
    return *i != LADE_JOB_GONE;
}

/* Commits sample i of count. False: another worker has it. */
static inline bool lade_job_commit(_Atomic uint64_t *committed, uint64_t i, uint64_t count)
{
    LADE_STEP();
    return atomic_compare_exchange_strong_explicit(committed, &i, i + 1 < count ? i + 1 : LADE_JOB_NONE,
                                                   memory_order_relaxed,
                                                   memory_order_relaxed); /* the job stays unchanged */
}

/* Takes the samples that are not committed, from *from on, with the job. False: there are none. */
static inline bool lade_job_supersede(_Atomic uint64_t *committed, uint64_t *from)
{
    LADE_STEP();
    *from = atomic_load_explicit(committed, memory_order_relaxed);
    while (*from < LADE_JOB_NONE) {
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(committed, from, LADE_JOB_GONE, memory_order_acquire,
                                                    memory_order_acquire)) /* [loader.supersede] -> [loader.begin] */
            return true;
    }
    return false;
}

#endif

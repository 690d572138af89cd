/* SPDX-License-Identifier: MIT */
/*
 * The turns of a slot: a filler, the copying thread, a consumer, and a filler again. Internal.
 *
 * Batch n is in slot n % depth. Each slot has a word with the number of its batch and the next step, as in the queue of
 * Vyukov (2010): n may be filled, is filled, is ready (its copy is enqueued), or is where the batches end. The word
 * only grows: a released slot is at batch n + depth. Fillers claim numbers from tail, consumers from head. Copies are
 * enqueued in the order of the numbers, by the filler that holds the baton. A filler that has filled a slot and finds
 * the baton taken can continue, because the holder rechecks after it puts the baton down. Nothing here depends on
 * memory or devices.
 */
#ifndef LADE_GPU_SLOTS_H
#define LADE_GPU_SLOTS_H

#include <lade/status.h>

#include "event.h"

#include <stdbool.h>

#define LADE_SLOTS_CACHELINE_PAIR 128

enum { SLOT_FREE, SLOT_FILLED, SLOT_READY, SLOT_ENDED };

struct lade_turn {
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t word;
};

struct lade_slots {
    struct lade_turn *turn;
    uint64_t depth;
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t tail;  /* 2 * batches begun, plus 1 if no more will be */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t head;  /* batches taken */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t baton; /* 2 * batches copied, plus 1 while a thread copies */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic int stop;       /* LADE_OK, or the status that all calls return */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) struct lade_event freed;
    struct lade_event ready;
    struct lade_event stopped; /* for threads that wait for the device, which wakes no thread */
};

static inline uint64_t lade_slot_word(uint64_t number, unsigned what)
{
    return number * 4 + what;
}

static inline void lade_slots_init(struct lade_slots *s, struct lade_turn *turn, uint64_t depth)
{
    s->turn = turn;
    s->depth = depth;
    for (uint64_t i = 0; i < depth; i++)
        atomic_init(&turn[i].word, lade_slot_word(i, SLOT_FREE));
    atomic_init(&s->tail, 0);
    atomic_init(&s->head, 0);
    atomic_init(&s->baton, 0);
    atomic_init(&s->stop, LADE_OK);
    lade_event_init(&s->freed);
    lade_event_init(&s->ready);
    lade_event_init(&s->stopped);
}

static inline _Atomic uint64_t *lade_slot_turn(struct lade_slots *s, uint64_t number)
{
    return &s->turn[number % s->depth].word;
}

/* The steps of a slot, in the order of a batch's life. Each is called by the thread whose turn it is. */
static inline void lade_slots_filled(struct lade_slots *s, uint64_t number)
{
    LADE_STEP();
    atomic_store_explicit(lade_slot_turn(s, number), lade_slot_word(number, SLOT_FILLED),
                          memory_order_seq_cst); /* [feeder.filled] -> [feeder.copy] */
}

/* Takes the baton if it is free and the next batch to copy is filled. Call after lade_slots_filled(). */
static inline bool lade_slots_baton(struct lade_slots *s, uint64_t *number)
{
    LADE_STEP();
    /* Acquires the work of the last holder. If the baton is taken, its holder observes the filled slot. */
    uint64_t baton = atomic_load_explicit(&s->baton, memory_order_seq_cst); /* [feeder.baton] -> [feeder.passed] */
    if (baton % 2)
        return false;
    LADE_STEP();
    /* Acquires the filled batch. */
    uint64_t word =
        atomic_load_explicit(lade_slot_turn(s, baton / 2), memory_order_seq_cst); /* [feeder.copy] -> [feeder.filled] */
    *number = baton / 2;
    LADE_STEP();
    return word == lade_slot_word(baton / 2, SLOT_FILLED) &&
           atomic_compare_exchange_strong_explicit(&s->baton, &baton, baton + 1, memory_order_relaxed,
                                                   memory_order_relaxed); /* the loser need not recheck */
}

/* Puts the baton down; the caller must then recheck with lade_slots_baton(). */
static inline void lade_slots_passed(struct lade_slots *s, uint64_t number)
{
    LADE_STEP();
    atomic_store_explicit(&s->baton, 2 * (number + 1), memory_order_seq_cst); /* [feeder.passed] -> [feeder.baton] */
}

static inline void lade_slots_ready(struct lade_slots *s, uint64_t number, unsigned what)
{
    LADE_STEP();
    atomic_store_explicit(lade_slot_turn(s, number), lade_slot_word(number, what),
                          memory_order_release); /* [feeder.ready] -> [feeder.take] */
    lade_event_notify_all(&s->ready);
}

static inline void lade_slots_released(struct lade_slots *s, uint64_t number)
{
    LADE_STEP();
    atomic_store_explicit(lade_slot_turn(s, number), lade_slot_word(number + s->depth, SLOT_FREE),
                          memory_order_release); /* [feeder.released] -> [feeder.free] */
    lade_event_notify_all(&s->freed);
}

static inline void lade_slots_notify(struct lade_slots *s)
{
    lade_event_notify_all(&s->freed);
    lade_event_notify_all(&s->ready);
}

/* No more batches are begun. */
static inline void lade_slots_end(struct lade_slots *s)
{
    LADE_STEP();
    atomic_fetch_or_explicit(&s->tail, 1, memory_order_relaxed); /* the events carry it */
    lade_slots_notify(s);
}

/*
 * All calls return this status, from the first call of stop on. A thread that observes it observes all that was done
 * before.
 */
static inline void lade_slots_stop(struct lade_slots *s, int status)
{
    int none = LADE_OK;

    LADE_STEP();
    atomic_compare_exchange_strong_explicit(&s->stop, &none, status, memory_order_release,
                                            memory_order_relaxed); /* [feeder.stop] -> [feeder.stopped] */
    lade_slots_notify(s);
    lade_event_notify_all(&s->stopped);
}

static inline int lade_slots_stopped(struct lade_slots *s)
{
    LADE_STEP();
    return atomic_load_explicit(&s->stop, memory_order_acquire); /* [feeder.stopped] -> [feeder.stop] */
}

/*
 * The next number to fill, or to take.
 * LADE_OK
 * LADE_EMPTY       not yet.
 * LADE_CLOSED      there are no more.
 * else             the status of stop.
 */
static inline int lade_slots_claim(struct lade_slots *s, uint64_t *number)
{
    int stop = lade_slots_stopped(s);

    LADE_STEP();
    uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed); /* a guess, the exchange decides */
    for (;;) {
        if (stop != LADE_OK || tail % 2)
            return stop != LADE_OK ? stop : LADE_CLOSED;
        LADE_STEP();
        /* Acquires the slot after the consumer is done with it. */
        uint64_t word = atomic_load_explicit(lade_slot_turn(s, tail / 2),
                                             memory_order_acquire); /* [feeder.free] -> [feeder.released] */
        if (word < lade_slot_word(tail / 2, SLOT_FREE))
            return LADE_EMPTY;
        LADE_STEP();
        /* The thread that gets the number owns the slot; the word holds its state. */
        if (atomic_compare_exchange_strong_explicit(&s->tail, &tail, tail + 2, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            *number = tail / 2;
            return LADE_OK;
        }
    }
}

/* *number is also set with LADE_CLOSED if a slot marks the end of the batches; else it is UINT64_MAX. */
static inline int lade_slots_take(struct lade_slots *s, uint64_t *number)
{
    int stop = lade_slots_stopped(s);

    *number = UINT64_MAX;
    if (stop != LADE_OK)
        return stop;
    LADE_STEP();
    uint64_t head = atomic_load_explicit(&s->head, memory_order_relaxed); /* a guess, the exchange decides */
    for (;;) {
        LADE_STEP();
        uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed); /* only a count */
        if (tail % 2 && head >= tail / 2)
            return LADE_CLOSED;
        LADE_STEP();
        /* Acquires the fields of the batch. */
        uint64_t word =
            atomic_load_explicit(lade_slot_turn(s, head), memory_order_acquire); /* [feeder.take] -> [feeder.ready] */
        if (word == lade_slot_word(head, SLOT_ENDED)) {
            *number = head;
            return LADE_CLOSED;
        }
        if (word < lade_slot_word(head, SLOT_READY))
            return LADE_EMPTY;
        LADE_STEP();
        if (atomic_compare_exchange_strong_explicit(&s->head, &head, head + 1, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            *number = head;
            return LADE_OK;
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Whose turn it is with a slot: a filler, who copies, a consumer, and a filler again. Internal.
 *
 * Batch n lies in slot n % depth. Each slot has a word that says which batch it is at and what comes next, as in the
 * queue of Vyukov (2010): n may be filled, is filled, is ready (on its way to the device), or is where the batches end.
 * The word only grows: a slot that is released is at batch n + depth. Fillers claim numbers from tail, consumers from
 * head. Copies are made in the order of the numbers, by the filler who has the baton; who has filled a slot and finds the
 * baton taken can go, since who has it looks again after putting it down. Nothing here knows of memory or devices.
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
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t tail;  /* 2 * batches begun, plus 1 when no more are */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t head;  /* batches taken */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic uint64_t baton; /* 2 * batches copied, plus 1 while somebody copies */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) _Atomic int stop;       /* LADE_OK, or what everybody is to answer */
    _Alignas(LADE_SLOTS_CACHELINE_PAIR) struct lade_event freed;
    struct lade_event ready;
    struct lade_event stopped; /* where threads wait for the device, which notifies nobody */
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

/* What happened to the slots, in the order of a batch's life. Each call is by the one whose turn it is. */
static inline void lade_slots_filled(struct lade_slots *s, uint64_t number)
{
    LADE_STEP();
    atomic_store_explicit(lade_slot_turn(s, number), lade_slot_word(number, SLOT_FILLED),
                          memory_order_seq_cst); /* [feeder.filled] -> [feeder.copy] */
}

/* Takes the baton if nobody has it and the batch that it stands at is filled. Behind lade_slots_filled(). */
static inline bool lade_slots_baton(struct lade_slots *s, uint64_t *number)
{
    LADE_STEP();
    /* What the last one with the baton did is there. Whose slot is missed here is seen by the one who has it. */
    uint64_t baton = atomic_load_explicit(&s->baton, memory_order_seq_cst); /* [feeder.baton] -> [feeder.passed] */
    if (baton % 2)
        return false;
    LADE_STEP();
    /* The batch is complete. */
    uint64_t word =
        atomic_load_explicit(lade_slot_turn(s, baton / 2), memory_order_seq_cst); /* [feeder.copy] -> [feeder.filled] */
    *number = baton / 2;
    LADE_STEP();
    return word == lade_slot_word(baton / 2, SLOT_FILLED) &&
           atomic_compare_exchange_strong_explicit(&s->baton, &baton, baton + 1, memory_order_relaxed,
                                                   memory_order_relaxed); /* who loses it need not look again */
}

/* Puts the baton down; whoever does looks once more with lade_slots_baton(). */
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

/* Everybody is to answer this status, from the first such call on. What was done before it is seen by who hears it. */
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
 * The next number to fill, to take. LADE_OK; LADE_EMPTY: not yet; LADE_CLOSED: none will come; else what stop
 * said.
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
        /* The consumer is done with the slot. */
        uint64_t word = atomic_load_explicit(lade_slot_turn(s, tail / 2),
                                             memory_order_acquire); /* [feeder.free] -> [feeder.released] */
        if (word < lade_slot_word(tail / 2, SLOT_FREE))
            return LADE_EMPTY;
        LADE_STEP();
        /* Who gets the number gets the slot; the word says in which state it is. */
        if (atomic_compare_exchange_strong_explicit(&s->tail, &tail, tail + 2, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            *number = tail / 2;
            return LADE_OK;
        }
    }
}

/* *number is also set with LADE_CLOSED where a slot says that the batches end there; else to UINT64_MAX. */
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
        uint64_t tail = atomic_load_explicit(&s->tail, memory_order_relaxed); /* says only how many there are */
        if (tail % 2 && head >= tail / 2)
            return LADE_CLOSED;
        LADE_STEP();
        /* What was written about the batch is there. */
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

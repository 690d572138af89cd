/* SPDX-License-Identifier: MIT */
/*
 * The mpmc ring and two broken ones behind one function table, all of them stepped (steps.h). The real one is the
 * library's source itself.
 */
#ifndef LADE_STRESS_RINGS_H
#define LADE_STRESS_RINGS_H

#include "steps.h"

#include "../lib/ring.c"

#include <stdlib.h>

struct ring_kind {
    const char *name;
    void *(*create)(uint64_t capacity, unsigned handles);
    void (*destroy)(void *ring);
    void *(*join)(void *ring);
    void (*leave)(void *handle);
    int (*push)(void *handle, uint64_t word);
    int (*pop)(void *handle, uint64_t *word);
    size_t (*push_many)(void *handle, const uint64_t *word, size_t count);
    size_t (*pop_many)(void *handle, uint64_t *word, size_t count);
};

static void *lade_kind_create(uint64_t capacity, unsigned handles)
{
    struct lade_mpmc *ring = NULL;

    if (lade_mpmc_create(&ring, &(struct lade_ring_config){.capacity = capacity, .handles = handles}) != LADE_OK)
        exit(2);
    return ring;
}

static void lade_kind_destroy(void *ring)
{
    lade_mpmc_destroy(ring);
}

static void *lade_kind_join(void *ring)
{
    struct lade_mpmc_handle *handle = NULL;

    return lade_mpmc_join(ring, &handle) == LADE_OK ? handle : NULL;
}

static void lade_kind_leave(void *handle)
{
    lade_mpmc_leave(handle);
}

static int lade_kind_push(void *handle, uint64_t word)
{
    return lade_mpmc_push(handle, word);
}

static int lade_kind_pop(void *handle, uint64_t *word)
{
    return lade_mpmc_pop(handle, word);
}

static size_t lade_kind_push_many(void *handle, const uint64_t *word, size_t count)
{
    return lade_mpmc_push_many(handle, word, count);
}

static size_t lade_kind_pop_many(void *handle, uint64_t *word, size_t count)
{
    return lade_mpmc_pop_many(handle, word, count);
}

static const struct ring_kind lade_kind = {"lade_mpmc",    lade_kind_create,    lade_kind_destroy,
                                           lade_kind_join, lade_kind_leave,     lade_kind_push,
                                           lade_kind_pop,  lade_kind_push_many, lade_kind_pop_many};

/*
 * After Vyukov ("Bounded MPMC queue", 2010), an independent implementation. A thread takes a ticket by advancing a
 * shared index and then fills or empties its slot later; the sequence number of the slot shows when it is ready.
 * Between the two steps the slot blocks every thread that reaches it: a pop returns EMPTY although later pushes are
 * complete, and a thread that stops there stops the ring. With checked = false the sequence number is ignored, and a
 * pop takes a slot that has not been filled.
 */
struct ticket_ring {
    uint64_t capacity;
    bool checked;
    _Atomic uint64_t tail, head;
    struct {
        _Atomic uint64_t sequence, word;
    } slot[16];
};

static void *ticket_create(uint64_t capacity, bool checked)
{
    struct ticket_ring *r = check_memory(1, sizeof *r);

    if (capacity > sizeof r->slot / sizeof *r->slot)
        exit(2);
    r->capacity = capacity;
    r->checked = checked;
    for (uint64_t i = 0; i < capacity; i++)
        atomic_init(&r->slot[i].sequence, 2 * i);
    return r;
}

static void *vyukov_create(uint64_t capacity, unsigned handles)
{
    (void)handles;
    return ticket_create(capacity, true);
}

static void *unchecked_create(uint64_t capacity, unsigned handles)
{
    (void)handles;
    return ticket_create(capacity, false);
}

static void *ticket_join(void *ring)
{
    return ring;
}

static void ticket_leave(void *handle)
{
    (void)handle;
}

/* Sequence numbers: 2t waits for push number t, 2t + 1 for pop number t, which leaves 2 (t + capacity). */
static int ticket_push(void *handle, uint64_t word)
{
    struct ticket_ring *r = handle;

    for (;;) {
        uint64_t t = atomic_load_explicit(&r->tail, memory_order_seq_cst);
        uint64_t place = t % r->capacity;
        step_here();
        if (r->checked ? atomic_load_explicit(&r->slot[place].sequence, memory_order_seq_cst) < 2 * t
                       : t - atomic_load_explicit(&r->head, memory_order_seq_cst) >= r->capacity)
            return LADE_FULL;
        step_here();
        if (atomic_compare_exchange_strong_explicit(&r->tail, &t, t + 1, memory_order_seq_cst, memory_order_seq_cst)) {
            atomic_store_explicit(&r->slot[place].word, word, memory_order_seq_cst);
            step_here();
            atomic_store_explicit(&r->slot[place].sequence, 2 * t + 1, memory_order_seq_cst);
            return LADE_OK;
        }
    }
}

static int ticket_pop(void *handle, uint64_t *word)
{
    struct ticket_ring *r = handle;

    for (;;) {
        uint64_t t = atomic_load_explicit(&r->head, memory_order_seq_cst);
        uint64_t place = t % r->capacity;
        step_here();
        if (r->checked ? atomic_load_explicit(&r->slot[place].sequence, memory_order_seq_cst) < 2 * t + 1
                       : t >= atomic_load_explicit(&r->tail, memory_order_seq_cst))
            return LADE_EMPTY;
        step_here();
        if (atomic_compare_exchange_strong_explicit(&r->head, &t, t + 1, memory_order_seq_cst, memory_order_seq_cst)) {
            *word = atomic_load_explicit(&r->slot[place].word, memory_order_seq_cst);
            step_here();
            atomic_store_explicit(&r->slot[place].sequence, 2 * (t + r->capacity), memory_order_seq_cst);
            return LADE_OK;
        }
    }
}

static size_t ticket_push_many(void *handle, const uint64_t *word, size_t count)
{
    size_t done = 0;

    while (done < count && ticket_push(handle, word[done]) == LADE_OK)
        done++;
    return done;
}

static size_t ticket_pop_many(void *handle, uint64_t *word, size_t count)
{
    size_t done = 0;

    while (done < count && ticket_pop(handle, &word[done]) == LADE_OK)
        done++;
    return done;
}

static const struct ring_kind vyukov_kind = {"Vyukov's ring", vyukov_create,    free,
                                             ticket_join,     ticket_leave,     ticket_push,
                                             ticket_pop,      ticket_push_many, ticket_pop_many};

static const struct ring_kind unchecked_kind = {"a ring without turns", unchecked_create, free,       ticket_join,
                                                ticket_leave,           ticket_push,      ticket_pop, ticket_push_many,
                                                ticket_pop_many};

#endif

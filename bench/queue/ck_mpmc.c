/* SPDX-License-Identifier: MIT */
/*
 * Candidate: ck_ring of Concurrency Kit, its mpmc functions, or its spsc functions where ck_spsc.c includes this. One slot
 * of the power of two stays empty.
 */
#include "queue.h"

#include <ck_ring.h>
#include <stdlib.h>

#ifndef CK_SPSC
#define NAME_SHARED 1
#define ENQUEUE ck_ring_enqueue_mpmc
#define DEQUEUE ck_ring_dequeue_mpmc
#else
#define NAME_SHARED 0
#define ENQUEUE ck_ring_enqueue_spsc
#define DEQUEUE ck_ring_dequeue_spsc
#endif

struct queue {
    _Alignas(128) ck_ring_t ring;
    _Alignas(128) ck_ring_buffer_t *buffer;
};

struct seat {
    ck_ring_t *ring;
    ck_ring_buffer_t *buffer;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    size_t slots = (size_t)plan->capacity + 1;

    if ((slots & (slots - 1)) != 0)
        return false;
    q->buffer = aligned_alloc(128, (slots * sizeof *q->buffer + 127) / 128 * 128);
    if (!q->buffer)
        return false;
    for (size_t i = 0; i < slots; i++)
        q->buffer[i].value = NULL;
    ck_ring_init(&q->ring, (unsigned)slots);
    return true;
}

static void queue_close(struct queue *q)
{
    free(q->buffer);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    seat->ring = &q->ring;
    seat->buffer = q->buffer;
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    return ENQUEUE(seat->ring, seat->buffer, (void *)(uintptr_t)word);
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    void *value = NULL;

    if (!DEQUEUE(seat->ring, seat->buffer, &value))
        return false;
    *word = (uintptr_t)value;
    return true;
}

#ifndef QUEUE_ONLY
#include "workload.h"
#endif

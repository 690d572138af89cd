/* SPDX-License-Identifier: MIT */
/*
 * Candidate: the bounded queue of D. Vyukov (2010), written for this comparison: a ticket for each side, a sequence number in
 * each cell that shows whose turn it is. A producer that stops behind its ticket holds up the consumers.
 */
#include "queue.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NAME_SHARED 1

struct cell {
    _Atomic uint64_t turn;
    uint64_t word;
};

struct queue {
    _Alignas(128) struct cell *cell;
    uint64_t mask;
    _Alignas(128) _Atomic uint64_t pushed;
    _Alignas(128) _Atomic uint64_t popped;
};

struct seat {
    struct queue *queue;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    uint64_t cells = plan->capacity + 1;

    if ((cells & (cells - 1)) != 0)
        return false;
    q->cell = aligned_alloc(128, (cells * sizeof *q->cell + 127) / 128 * 128);
    if (!q->cell)
        return false;
    q->mask = cells - 1;
    for (uint64_t i = 0; i < cells; i++)
        atomic_init(&q->cell[i].turn, i);
    atomic_init(&q->pushed, 0);
    atomic_init(&q->popped, 0);
    return true;
}

static void queue_close(struct queue *q)
{
    free(q->cell);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    seat->queue = q;
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

/* The cell of a ticket that is ours, or NULL: the queue is full (empty). late: 0 for pushes, 1 for pops. */
static inline struct cell *claim(struct queue *q, _Atomic uint64_t *tickets, uint64_t late, uint64_t *ticket)
{
    uint64_t next = atomic_load_explicit(tickets, memory_order_relaxed);

    for (;;) {
        struct cell *cell = &q->cell[next & q->mask];
        int64_t ahead = (int64_t)(atomic_load_explicit(&cell->turn, memory_order_acquire) - (next + late));
        if (ahead < 0)
            return NULL;
        if (ahead > 0) {
            next = atomic_load_explicit(tickets, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(tickets, &next, next + 1, memory_order_relaxed,
                                                         memory_order_relaxed)) {
            *ticket = next;
            return cell;
        }
    }
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    uint64_t ticket;
    struct cell *cell = claim(seat->queue, &seat->queue->pushed, 0, &ticket);

    if (!cell)
        return false;
    cell->word = word;
    atomic_store_explicit(&cell->turn, ticket + 1, memory_order_release);
    return true;
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    uint64_t ticket;
    struct cell *cell = claim(seat->queue, &seat->queue->popped, 1, &ticket);

    if (!cell)
        return false;
    *word = cell->word;
    atomic_store_explicit(&cell->turn, ticket + seat->queue->mask + 1, memory_order_release);
    return true;
}

#include "workload.h"

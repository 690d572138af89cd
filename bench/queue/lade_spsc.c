/* SPDX-License-Identifier: MIT */
/* Candidate: lade_spsc. */
#include "queue.h"

#include <lade/ring.h>

#define NAME_SHARED 0
#define NAME_BATCH

struct queue {
    struct lade_spsc *ring;
};

struct seat {
    struct lade_spsc *ring;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    return lade_spsc_create(&q->ring, &(struct lade_ring_config){.capacity = plan->capacity}) == LADE_OK;
}

static void queue_close(struct queue *q)
{
    lade_spsc_destroy(q->ring);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    seat->ring = q->ring;
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    return lade_spsc_push(seat->ring, word) == LADE_OK;
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    return lade_spsc_pop(seat->ring, word) == LADE_OK;
}

static inline size_t seat_push_many(struct seat *seat, const uint64_t *word, size_t count)
{
    return lade_spsc_push_many(seat->ring, word, count);
}

static inline size_t seat_pop_many(struct seat *seat, uint64_t *word, size_t count)
{
    return lade_spsc_pop_many(seat->ring, word, count);
}

#include "workload.h"

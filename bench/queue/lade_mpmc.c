/* SPDX-License-Identifier: MIT */
/* Candidate: lade_mpmc. */
#include "queue.h"

#include <lade/ring.h>

#define NAME_SHARED 1
#define NAME_BATCH

struct queue {
    struct lade_mpmc *ring;
};

struct seat {
    struct lade_mpmc_handle *handle;
};

static bool queue_open(struct queue *q, const struct plan *plan)
{
    return lade_mpmc_create(&q->ring, &(struct lade_ring_config){.capacity = plan->capacity,
                                                                 .handles = plan->threads + 1}) == LADE_OK;
}

static void queue_close(struct queue *q)
{
    lade_mpmc_destroy(q->ring);
}

static bool seat_open(struct seat *seat, struct queue *q, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    return lade_mpmc_join(q->ring, &seat->handle) == LADE_OK;
}

static void seat_close(struct seat *seat)
{
    lade_mpmc_leave(seat->handle);
}

static inline bool seat_push(struct seat *seat, uint64_t word)
{
    return lade_mpmc_push(seat->handle, word) == LADE_OK;
}

static inline bool seat_pop(struct seat *seat, uint64_t *word)
{
    return lade_mpmc_pop(seat->handle, word) == LADE_OK;
}

static inline size_t seat_push_many(struct seat *seat, const uint64_t *word, size_t count)
{
    return lade_mpmc_push_many(seat->handle, word, count);
}

static inline size_t seat_pop_many(struct seat *seat, uint64_t *word, size_t count)
{
    return lade_mpmc_pop_many(seat->handle, word, count);
}

#include "workload.h"

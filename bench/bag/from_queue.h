/* SPDX-License-Identifier: MIT */
/* A queue of ../queue as a candidate here, for reference: it takes words and gives them back, but in order. */
struct bag {
    struct queue queue;
};

static bool bag_open(struct bag *b, const struct plan *plan)
{
    struct plan rounded = *plan;

    /* Capacity: a power of two less one, as ck_ring needs it; the others get the same. */
    for (rounded.capacity = 1; rounded.capacity < plan->capacity;)
        rounded.capacity = rounded.capacity * 2 + 1;
    return queue_open(&b->queue, &rounded);
}

static void bag_close(struct bag *b)
{
    queue_close(&b->queue);
}

#define seat_open(seat, bag, number, role) (seat_open)(seat, &(bag)->queue, number, role)

static inline bool seat_put(struct seat *seat, const struct element *in)
{
    return seat_push(seat, in->word[0]);
}

static inline bool seat_draw(struct seat *seat, struct element *out)
{
    return seat_pop(seat, &out->word[0]);
}

#include "workload.h"

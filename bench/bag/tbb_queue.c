/* SPDX-License-Identifier: MIT */
/* For reference: concurrent_queue of oneTBB, behind calls as a library's. It has no limit and allocates as it grows. */
#include "bag.h"

void *tbb_queue_make(void);
void tbb_queue_free(void *q);
void tbb_queue_push(void *q, uint64_t word);
bool tbb_queue_pop(void *q, uint64_t *word);

struct bag {
    void *queue;
};

struct seat {
    void *queue;
};

static bool bag_open(struct bag *b, const struct plan *plan)
{
    (void)plan;
    b->queue = tbb_queue_make();
    return b->queue;
}

static void bag_close(struct bag *b)
{
    tbb_queue_free(b->queue);
}

static bool seat_open(struct seat *seat, struct bag *b, unsigned number, enum role role)
{
    (void)number;
    (void)role;
    seat->queue = b->queue;
    return true;
}

static void seat_close(struct seat *seat)
{
    (void)seat;
}

static inline bool seat_put(struct seat *seat, const struct element *in)
{
    tbb_queue_push(seat->queue, in->word[0]);
    return true;
}

static inline bool seat_draw(struct seat *seat, struct element *out)
{
    return tbb_queue_pop(seat->queue, &out->word[0]);
}

#include "workload.h"

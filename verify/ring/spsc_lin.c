/* harness
 * property: with a fence at the end of each call, the spsc ring is linearizable to a bounded queue, including FULL and EMPTY
 * engines: explore
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops, wraps
 * executions: 10
 * cover: full empty
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define CAPACITY 2
#include "harness.h"

#include "lin.h"
#include "event/nobody_waits.h"

#include "ring.c"

#ifndef AFTER_CALL
#define AFTER_CALL() atomic_thread_fence(memory_order_seq_cst)
#endif

static struct lade_spsc *ring;

static bool push(int id, uint64_t word)
{
    (void)id;
    bool done = lade_spsc_push(ring, word) == LADE_OK;
    AFTER_CALL();
    return done;
}

static uint64_t pop(int id)
{
    uint64_t word = 0;

    (void)id;
    if (lade_spsc_pop(ring, &word) != LADE_OK)
        word = 0;
    AFTER_CALL();
    return word;
}

static void setup(void)
{
    lin_setup();
    assert(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = CAPACITY}) == LADE_OK);
}

static void thread(int id)
{
    for (uint64_t i = 1; i <= 3; i++)
        if (id == 0) {
            if (!lin_push(id, i))
                cover(full);
        } else {
            if (!lin_pop(id))
                cover(empty);
        }
}

static void finish(void)
{
    lade_spsc_destroy(ring);
}

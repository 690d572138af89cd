/* harness
 * property: with a fence after each call, FULL for the producer and EMPTY for the consumer never contradict each other
 * engines: native genmc explore
 * threads: 2
 * bound: capacity 2, one word; two pushes against two pops
 * executions: 5
 * cover: full empty
 */
#define THREADS 2
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

#ifndef AFTER_CALL
#define AFTER_CALL() atomic_thread_fence(memory_order_seq_cst)
#endif

static struct lade_spsc *ring;
static int status[THREADS][2];

static void setup(void)
{
    assert(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 2}) == LADE_OK);
    assert(lade_spsc_push(ring, 1) == LADE_OK);
}

static void thread(int id)
{
    uint64_t word = 0;

    for (int i = 0; i < 2; i++) {
        status[id][i] = id == 0 ? lade_spsc_push(ring, 2) : lade_spsc_pop(ring, &word);
        AFTER_CALL();
    }
    if (id == 0 && status[0][1] == LADE_FULL)
        cover(full);
    if (id == 1 && status[1][1] == LADE_EMPTY)
        cover(empty);
}

static void finish(void)
{
    assert(status[0][0] == LADE_OK && status[1][0] == LADE_OK);
    /* FULL: two words were in the ring before the first pop, so one was left for the second. */
    assert(status[0][1] == LADE_OK || status[1][1] == LADE_OK);
    lade_spsc_destroy(ring);
}

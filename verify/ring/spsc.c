/* harness
 * property: with one producer and one consumer, every word is popped once, complete and in order, and FULL and EMPTY are accurate
 * threads: 2
 * bound: capacity 2, 3 pushes, 3 pops, wraps
 * executions: 10
 * cover: full empty wrapped
 */
#define THREADS 2
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

enum { CAPACITY = 2, WORDS = 3 };

static struct lade_spsc *ring;
static uint64_t pushed, popped; /* counts; each written by one thread */

static void setup(void)
{
    assert(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = CAPACITY}) == LADE_OK);
    pushed = 0;
    popped = 0;
}

static void thread(int id)
{
    for (int i = 0; i < WORDS; i++) {
        if (id == 0) {
            int status = lade_spsc_push(ring, 100 + pushed);
            if (status == LADE_OK)
                pushed++;
            else
                cover(full);
            assert(status == LADE_OK || (status == LADE_FULL && pushed >= CAPACITY));
        } else {
            uint64_t word = 0;
            int status = lade_spsc_pop(ring, &word);
            if (status == LADE_OK)
                assert(word == 100 + popped++);
            else
                cover(empty);
            assert(status == LADE_OK || status == LADE_EMPTY);
        }
        pause_here();
    }
}

static void finish(void)
{
    uint64_t word = 0;

    assert(popped <= pushed && pushed - popped <= CAPACITY);
    if (pushed > CAPACITY)
        cover(wrapped);
    while (lade_spsc_pop(ring, &word) == LADE_OK)
        assert(word == 100 + popped++);
    assert(popped == pushed);
    lade_spsc_destroy(ring);
}

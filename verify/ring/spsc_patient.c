/* harness
 * property: a consumer that finds one word and rechecks for more gets every word once, complete and in order
 * threads: 2
 * bound: capacity 8 (one word is few), 3 pushes, 3 pops
 * executions: 10
 * cover: all none
 */
#define THREADS 2
#include "harness.h"

#include "event/nobody_waits.h"

#include "ring.c"

static struct lade_spsc *ring;

static void setup(void)
{
    assert(lade_spsc_create(&ring, &(struct lade_ring_config){.capacity = 8}) == LADE_OK);
    assert(is_few(ring, 1) && !is_few(ring, 2));
}

static void thread(int id)
{
    uint64_t next = 10;

    for (int i = 0; i < 3; i++) {
        uint64_t word = 0;
        if (id == 0)
            assert(lade_spsc_push(ring, 10 + (uint64_t)i) == LADE_OK);
        else if (lade_spsc_pop(ring, &word) == LADE_OK)
            assert(word == next++);
        pause_here();
    }
    if (id == 1 && next == 13)
        cover(all);
    if (id == 1 && next == 10)
        cover(none);
}

static void finish(void)
{
    lade_spsc_destroy(ring);
}

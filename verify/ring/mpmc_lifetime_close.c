/* harness
 * property: when the turns of a ring are used up, count is correct, and after close every push and pop returns CLOSED
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: mpmc; capacity 2, the last round before the last; two pops against close and a push, through unused handles
 * executions: 6
 * cover: closed
 * rounds: 200
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static void setup(void)
{
    make(2);
    /* As if handle 2 had done all exchanges except the last two pushes and pops. */
    uint64_t round = last_round(ring) - 1;
    for (uint64_t i = 0; i < 2; i++)
        atomic_store_explicit(&ring->entry[i], 2 * round << ring->cell_bits | i, memory_order_relaxed);
    handle[2]->cursor[PUSH] = handle[2]->cursor[POP] = round << ring->position_bits;
    atomic_store_explicit(&ring->ticket[PUSH].done, round << ring->position_bits, memory_order_relaxed);
    atomic_store_explicit(&ring->ticket[POP].done, round << ring->position_bits, memory_order_relaxed);
    assert(count_of_ring() == 0);
    assert(push(2, 1) == LADE_OK);
    assert(push(2, 2) == LADE_OK);
    assert(push(2, 3) == LADE_FULL);
    assert(count_of_ring() == 2);
    assert(pop(2, &out[2]) == LADE_OK && out[2] == 1);
    assert(count_of_ring() == 1);
}

static void thread(int id)
{
    if (id == 0) {
        assert(pop(0, &out[0]) == LADE_OK && out[0] == 2);
        if (pop(0, &out[0]) == LADE_CLOSED)
            cover(closed);
    } else {
        close_ring();
        assert(push(1, 4) == LADE_CLOSED);
    }
}

static void finish(void)
{
    for (int i = 0; i <= THREADS; i++) {
        assert(pop(i, &out[i]) == LADE_CLOSED);
        assert(push(i, 4) == LADE_CLOSED);
    }
    assert(count_of_ring() == 0);
    destroy_ring();
}

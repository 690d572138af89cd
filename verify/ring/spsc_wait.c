/* harness
 * property: a producer and a consumer that wait for each other both complete, and the words come out in order
 * engines: explore
 * threads: 2
 * bound: spsc; capacity 1; two push_wait against two pop_wait
 * executions: 10
 * cover: pop_slept push_slept
 * timeout: 120
 */
#define THREADS 2
#define SPSC
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static void setup(void)
{
    make(1);
}

static void thread(int id)
{
    if (id == 0) {
        for (uint64_t i = 1; i <= 2; i++)
            assert(push_wait(0, i, LADE_FOREVER) == LADE_OK);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(push_slept);
        return;
    }
    for (uint64_t i = 1; i <= 2; i++)
        assert(pop_wait(1, &out[1], LADE_FOREVER) == LADE_OK && out[1] == i);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(pop_slept);
}

static void finish(void)
{
    destroy_ring();
}

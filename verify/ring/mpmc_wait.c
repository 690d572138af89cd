/* harness
 * property: two waiting pops and a thread that pushes two words all complete, and each word is popped once
 * engines: explore
 * threads: 3
 * bound: mpmc; capacity 2; two pop_wait against two pushes
 * executions: 100
 * cover: slept
 * timeout: 240
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static void setup(void)
{
    make(2);
}

static void thread(int id)
{
    if (id == 0) {
        for (uint64_t i = 1; i <= 2; i++)
            assert(push(0, i) == LADE_OK);
        return;
    }
    assert(pop_wait(id, &out[id], LADE_FOREVER) == LADE_OK);
    if (atomic_load_explicit(&futex_woken[id], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(out[1] + out[2] == 3 && out[1] != out[2] && out[1] > 0 && out[2] > 0);
    destroy_ring();
}

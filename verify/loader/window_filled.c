/* harness
 * property: a thread that has fetched a record batch wakes a thread that waits for the same one, which finds it complete
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, both acquire the same record batch and keep it
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "window.h"

static void setup(void)
{
    make_cache();
}

static void thread(int id)
{
    (void)hold(id, 1);
    if (atomic_load_explicit(&futex_woken[id], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(only.pins == 2);
}

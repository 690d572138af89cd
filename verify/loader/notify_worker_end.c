/* harness
 * property: a worker that ends wakes a worker that waits for a buffer, as its own becomes free
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 workers, 1 buffer
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#define WORKERS 2
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static void setup(void)
{
    make_loader(2);
    worker[0].finished = true;
    worker[1].has_buffer = false;
}

static void thread(int id)
{
    if (id == 0) {
        leave(&worker[0]);
        return;
    }
    assert(await_batch(&worker[1]) == CLAIMED && worker[1].buffer == 0);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

/* harness
 * property: a worker that waits for a buffer is woken when half of the slots were released, also if the consumer does not wait
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 worker, 4 slots, 2 releases
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#define SLOTS 4
#define SPARE 1
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

/* The consumer has both buffers. */
static void setup(void)
{
    make_loader(1);
    worker[0].has_buffer = false;
    atomic_init(&buffers_free[0], 0);
}

static void thread(int id)
{
    if (id >= WORKERS) {
        lade_loader_give(&loader, 0);
        lade_loader_give(&loader, 1);
        return;
    }
    assert(await_batch(&worker[0]) == CLAIMED);
    if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

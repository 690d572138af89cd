/* harness
 * property: cancel wakes a consumer that waits for a batch and a worker that waits for a buffer
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 worker without a buffer, a consumer whose batch does not arrive, cancel
 * executions: 10
 * cover: slept worker_slept
 * timeout: 240
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static void setup(void)
{
    make_loader(2);
    worker[0].has_buffer = false; /* and none is free */
}

static void thread(int id)
{
    static struct lade_batch batch;

    if (id == 0) {
        work_in_epochs(&worker[0]);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(worker_slept);
    } else if (id == 1) {
        assert(take_next(0, LADE_FOREVER, &batch) == LADE_CANCELLED);
        if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
            cover(slept);
    } else {
        lade_loader_cancel(&loader);
    }
}

static void finish(void)
{
}

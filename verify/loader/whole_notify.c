/* harness
 * property: a consumer that releases a batch wakes a worker that waits for a buffer, and a worker wakes the consumer
 * engines: explore
 * threads: 2
 * bound: 1 worker, 1 buffer, two batches
 * executions: 5000
 * cover: slept worker_slept
 * timeout: 240
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static void setup(void)
{
    make_loader(2);
}

static void thread(int id)
{
    static struct lade_batch batch;

    if (id < WORKERS) {
        work_in_epochs(&worker[id]);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(worker_slept);
        return;
    }
    for (uint64_t k = 0; k < 2; k++) {
        assert(take_next(k, LADE_FOREVER, &batch) == LADE_OK);
        lade_loader_release(&loader, &batch);
    }
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    take_rest(2);
}

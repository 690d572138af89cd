/* harness
 * property: a worker that a user callback has ended wakes the consumer, which waits for its batch
 * engines: explore native tsan
 * threads: 2
 * bound: 1 worker, which may not be replaced
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static void setup(void)
{
    make_loader(1);
    assert(claim_batch(&worker[0]) == CLAIMED);
}

static void thread(int id)
{
    static struct lade_batch batch;

    if (id < WORKERS) {
        leave(&worker[0]); /* it has not finished */
        return;
    }
    assert(take_next(0, LADE_FOREVER, &batch) == LADE_LIMITED);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

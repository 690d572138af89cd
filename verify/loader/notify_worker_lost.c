/* harness
 * property: a worker that a user callback has ended wakes the consumer, which waits for its batch
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 worker, which may not be replaced
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

/* The part of the consumer's condition that finds lost workers. */
static int supervise_or_await(void *context, int64_t *until)
{
    static struct lade_error error;
    int status = lade_loader_supervise(&loader, &error);

    (void)context, (void)until;
    return status == LADE_OK ? LADE_AWAIT : status;
}

static void setup(void)
{
    make_loader(1);
    assert(claim_batch(&worker[0]) == CLAIMED);
}

static void thread(int id)
{
    if (id < WORKERS) {
        leave(&worker[0]); /* it has not finished */
        return;
    }
    assert(lade_event_await(&loader.ready, supervise_or_await, NULL, LADE_FOREVER) == LADE_LIMITED);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

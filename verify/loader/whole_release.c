/* harness
 * property: a worker that waits for a buffer is woken when the consumer waits for a batch, whichever thread released the previous one
 * engines: explore
 * threads: 3
 * bound: 1 worker, 1 buffer, 1 batch; fewer releases than it takes to wake a worker for them
 * executions: 1000
 * cover: slept worker_slept
 * timeout: 240
 */
#define THREADS 3
#define WORKERS 1
#define SLOTS 4
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static struct lade_batch first;

/* The consumer holds the worker's buffer. */
static void setup(void)
{
    make_loader(2);
    assert(claim_batch(&worker[0]) == CLAIMED && fill(&worker[0]));
    hand_over(&worker[0]);
    assert(take_next(0, 0, &first) == LADE_OK);
}

static void thread(int id)
{
    static struct lade_batch second;

    if (id == 0) {
        assert(await_batch(&worker[0]) == CLAIMED && fill(&worker[0]));
        hand_over(&worker[0]);
    } else if (id == 1) {
        /* A wait this short skips the initial nap, and never times out, since the clock stands still. */
        assert(take_next(1, NAP, &second) == LADE_OK);
        lade_loader_release(&loader, &second);
    } else {
        lade_loader_release(&loader, &first);
    }
    if (id == 0 && atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
        cover(worker_slept);
    if (id == 1 && atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    take_rest(2);
}

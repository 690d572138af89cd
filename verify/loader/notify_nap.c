/* harness
 * property: a worker that waits for a buffer is woken before the consumer's first, short sleep, not after it
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 worker, 4 slots, 1 release; the short sleep ends by a notification only
 * executions: 3
 * cover: slept worker_slept
 */
#define THREADS 2
#define SLOTS 4
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static uint64_t batch, buffer;
static struct lade_error error;
static struct awaited awaited = {&loader, &batch, &buffer, &error, false, false};

/* The consumer has the only buffer. */
static void setup(void)
{
    awaited.napped = false;
    make_loader(1);
    worker[0].has_buffer = false;
}

static void thread(int id)
{
    if (id < WORKERS) {
        assert(await_batch(&worker[0]) == CLAIMED && fill(&worker[0]));
        assert(lade_batch_ring_publish(&loader.ring, 0, worker[0].buffer));
        lade_event_notify_all(&loader.ready);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(worker_slept);
        return;
    }
    lade_loader_give(&loader, 0);
    (void)lade_event_await(&loader.ready, find_or_nap, &awaited, NAP); /* as await() begins; time stands still */
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

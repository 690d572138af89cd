/* harness
 * property: a worker that waits for a buffer is woken by the release of a batch while the consumer waits, before it or after
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 1 worker, 1 buffer, 4 slots; a thread releases a batch, the consumer waits for the next one
 * executions: 10
 * cover: slept worker_slept
 * timeout: 120
 */
#define THREADS 3
#define WORKERS 1
#define SLOTS 4
#include "harness.h"

#include "event/futex.h"

#include "whole.h"

static struct lade_batch first;

static void setup(void)
{
    make_loader(1);
    worker[0].has_buffer = false;
    lade_ref_init(&memory[0].holds);
    first.memory = &memory[0];
}

static void thread(int id)
{
    static struct lade_error error;
    static uint64_t batch, buffer;

    if (id == 0) {
        assert(await_batch(&worker[0]) == CLAIMED && fill(&worker[0]));
        hand_over(&worker[0]);
    } else if (id == 1) {
        /* A wait this short skips the initial nap, and never times out, since the clock stands still. */
        assert(await(&loader, &batch, &buffer, NAP, &error) == LADE_OK && batch == 0);
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
}

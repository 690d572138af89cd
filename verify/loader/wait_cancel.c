/* harness
 * property: cancel ends a consumer that sleeps
 * engines: explore
 * threads: 2
 * bound: cancel against a consumer whose batch never comes
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static _Atomic uint32_t cancelled;

static void setup(void)
{
    make_ring();
    atomic_store(&cancelled, 0);
}

static void thread(int id)
{
    if (id == 0) {
        atomic_store_explicit(&cancelled, 1, memory_order_relaxed); /* as lade_loader_cancel() */
        lade_event_tell_all(&ready);
        return;
    }
    lade_ring_await(&ring, &ready, 0);
    for (;;) {
        uint64_t buffer;
        uint32_t number = lade_event_number(&ready);
        assert(!lade_ring_look(&ring, 0, &buffer));
        if (atomic_load_explicit(&cancelled, memory_order_relaxed))
            break;
        lade_futex_wait(&ready.number, number, -1);
    }
    lade_event_leave(&ready);
    if (atomic_load_explicit(&futex_woken[1], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
}

/* harness
 * property: notify_all wakes the waiter whose condition became true, while others wait for other conditions
 * engines: explore genmc
 * threads: 3
 * bound: two waiters with a condition each; each becomes true with its notify_all
 * executions: 100
 * cover: slept
 * timeout: 240
 */
#define THREADS 3
#include "harness.h"

#include "futex.h"

#include "things.h"

static _Atomic int kind[2];

static int kind_or_await(void *context, int64_t *until)
{
    (void)until;
    return atomic_load_explicit((_Atomic int *)context, memory_order_relaxed) ? LADE_OK : LADE_AWAIT;
}

static void setup(void)
{
    make_event();
    atomic_init(&kind[0], 0);
    atomic_init(&kind[1], 0);
}

static void thread(int id)
{
    if (id < 2) {
        assert(lade_event_await(&event, kind_or_await, &kind[id], -1) == LADE_OK);
        if (atomic_load_explicit(&futex_woken[id], memory_order_relaxed))
            cover(slept);
        return;
    }
    for (int i = 1; i >= 0; i--) {
        atomic_store_explicit(&kind[i], 1, memory_order_relaxed);
        lade_event_notify_all(&event);
    }
}

static void finish(void)
{
}

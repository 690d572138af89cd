/* harness
 * property: notify_one is sufficient if items arrive one at a time and each waiter takes one
 * engines: explore genmc
 * threads: 3
 * bound: two waiters; two items, each with its notify_one
 * executions: 100
 * cover: slept
 * timeout: 240
 */
#define THREADS 3
#include "harness.h"

#include "futex.h"

#include "things.h"

static void setup(void)
{
    make_event();
}

static void thread(int id)
{
    if (id < 2) {
        assert(lade_event_await(&event, take_or_await, NULL, -1) == LADE_OK);
        if (atomic_load_explicit(&futex_woken[id], memory_order_relaxed))
            cover(slept);
        return;
    }
    for (int i = 0; i < 2; i++) {
        put_things(1);
        lade_event_notify_one(&event);
    }
}

static void finish(void)
{
    assert(atomic_load(&things) == 0);
}

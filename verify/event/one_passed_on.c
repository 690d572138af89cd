/* harness
 * property: notify_one is sufficient for several items at once if each waiter that took one and sees more notifies the next
 * engines: explore genmc
 * threads: 3
 * bound: two waiters that take one each; two items with one notify_one
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
    if (id == 2) {
        put_things(2);
        lade_event_notify_one(&event);
        return;
    }
    assert(lade_event_await(&event, take_or_await, NULL, -1) == LADE_OK);
    if (atomic_load_explicit(&things, memory_order_relaxed) > 0)
        lade_event_notify_one(&event);
    if (atomic_load_explicit(&futex_woken[id], memory_order_relaxed))
        cover(slept);
}

static void finish(void)
{
    assert(atomic_load(&things) == 0);
}

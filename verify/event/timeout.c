/* harness
 * property: a wait ends when its timeout has expired, not before, and consumes no notification that another waiter needs
 * engines: explore genmc
 * threads: 3
 * bound: two waiters, one with a deadline; one item with its notify_one, which the waiter with the deadline passes to the other
 * executions: 100
 * cover: over took woken_late
 * timeout: 240
 */
#define THREADS 3
#define CLOCK
#include "harness.h"

#include "futex.h"

#include "things.h"

static void setup(void)
{
    make_event();
    atomic_init(&futex_time, 0);
}

static void thread(int id)
{
    if (id == 0) {
        int status = lade_event_await(&event, take_or_await, NULL, 5);
        if (status == LADE_TIMEOUT) {
            assert(lade_now() >= 5);
            cover(over);
            return;
        }
        assert(status == LADE_OK);
        cover(took);
        if (lade_now() >= 5)
            cover(woken_late);
        put_things(1);
        lade_event_notify_one(&event);
    } else if (id == 1) {
        assert(lade_event_await(&event, take_or_await, NULL, -1) == LADE_OK);
    } else {
        atomic_store_explicit(&futex_time, 5, memory_order_release);
        put_things(1);
        lade_event_notify_one(&event);
    }
}

static void finish(void)
{
    assert(atomic_load(&things) == 0);
}

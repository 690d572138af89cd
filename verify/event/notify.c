/* harness
 * property: a waiter that goes to sleep is notified of a store that it has missed, whatever the order of that store
 * threads: 2
 * bound: a relaxed store and notify_all against await
 * executions: 4
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "sleeper.h"

#include "things.h"

static void setup(void)
{
    make_event();
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        put_things(1);
        lade_event_notify_all(&event);
    } else {
        (void)lade_event_await(&event, take_or_await, NULL, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
}

/* harness
 * property: any thread that observes the store of a notifier that stopped before it notified, and then notifies, makes up for it
 * threads: 3
 * bound: one thread stores and stops, one that finds the store notifies all, one waits
 * executions: 6
 * cover: slept asleep
 */
#define THREADS 3
#include "harness.h"

#include "sleeper.h"

#include "things.h"

static bool found;

static void setup(void)
{
    make_event();
    nobody_sleeps();
    found = false;
}

static void thread(int id)
{
    if (id == 0) {
        end_with(LADE_CLOSED); /* and stops */
    } else if (id == SLEEPER) {
        (void)lade_event_await(&event, end_or_take, NULL, TIME_ENOUGH);
    } else if (atomic_load_explicit(&ended, memory_order_relaxed)) {
        found = true;
        lade_event_notify_all(&event);
    }
}

static void finish(void)
{
    if (found)
        nobody_sleeps_on();
    else if (slept_on)
        cover(asleep);
}

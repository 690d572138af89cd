/* harness
 * property: a thread that only loads the event and the store of a notifier that stopped before it notified makes up for it
 * threads: 3
 * bound: one thread stores and stops, one that finds the store notifies by loads, one waits; all with seq_cst
 * executions: 6
 * cover: slept asleep
 */
#define THREADS 3
#include "harness.h"

#include "sleeper.h"

#include "things.h"

static bool found;

static int closed_or_await(void *context, int64_t *until)
{
    (void)context, (void)until;
    return atomic_load_explicit(&ended, memory_order_seq_cst) ? LADE_CLOSED : LADE_AWAIT;
}

static void setup(void)
{
    make_event();
    nobody_sleeps();
    found = false;
}

static void thread(int id)
{
    if (id == 0) {
        atomic_store_explicit(&ended, LADE_CLOSED, memory_order_seq_cst); /* and stops */
    } else if (id == SLEEPER) {
        (void)lade_event_await(&event, closed_or_await, NULL, TIME_ENOUGH);
    } else if (atomic_load_explicit(&ended, memory_order_seq_cst)) {
        found = true;
        lade_event_notify_all_seq_cst(&event);
    }
}

static void finish(void)
{
    if (found)
        nobody_sleeps_on();
    else if (slept_on)
        cover(asleep);
}

/* harness
 * property: a waiter whose condition loads with seq_cst is notified of a seq_cst store by a notifier that only loads
 * threads: 2
 * bound: a store and notify_all_seq_cst against await
 * executions: 4
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "sleeper.h"

#include "things.h"

static int seen_or_await(void *context, int64_t *until)
{
    (void)context, (void)until;
    return atomic_load_explicit(&things, memory_order_seq_cst) ? LADE_OK : LADE_AWAIT;
}

static void setup(void)
{
    make_event();
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        atomic_store_explicit(&things, 1, memory_order_seq_cst);
        lade_event_notify_all_seq_cst(&event);
    } else {
        (void)lade_event_await(&event, seen_or_await, NULL, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
}

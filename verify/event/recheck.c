/* harness
 * property: a condition that requests a recheck is called again in time, although there is no notification
 * engines: explore genmc
 * threads: 2
 * bound: a device that completes at some time without a notification, against a waiter that polls it
 * executions: 3
 * cover: polled
 */
#define THREADS 2
#define CLOCK
#include "harness.h"

#include "futex.h"

#include "things.h"

static int polls;

static int done_or_await(void *context, int64_t *until)
{
    (void)context;
    polls++;
    if (atomic_load_explicit(&things, memory_order_relaxed))
        return LADE_OK;
    lade_event_recheck_by(until, 5);
    return LADE_AWAIT;
}

static void setup(void)
{
    make_event();
    atomic_init(&futex_time, 0);
    polls = 0;
}

static void thread(int id)
{
    if (id == 0) {
        put_things(1); /* without a notification */
        atomic_store_explicit(&futex_time, 5, memory_order_release);
    } else {
        assert(lade_event_await(&event, done_or_await, NULL, 9) == LADE_OK);
        if (polls > 1)
            cover(polled);
    }
}

static void finish(void)
{
}

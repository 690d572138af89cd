/* harness
 * property: close ends a wait after all earlier items were taken
 * engines: explore genmc
 * threads: 2
 * bound: a waiter that takes until closed; one item with its notify_one, then close
 * executions: 30
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "futex.h"

#include "things.h"

static int took;

/* A waiter that sees the mark also sees all items that came before it. */
static int take_or_end(void *context, int64_t *until)
{
    int end = atomic_load_explicit(&ended, memory_order_acquire);
    int status = take_or_await(context, until);

    return status == LADE_AWAIT && end != LADE_OK ? end : status;
}

static void setup(void)
{
    make_event();
    took = 0;
}

static void thread(int id)
{
    int status;

    if (id == 0) {
        while ((status = lade_event_await(&event, take_or_end, NULL, -1)) == LADE_OK)
            took++;
        assert(status == LADE_CLOSED);
        if (atomic_load_explicit(&futex_woken[0], memory_order_relaxed))
            cover(slept);
        return;
    }
    put_things(1);
    lade_event_notify_one(&event);
    atomic_store_explicit(&ended, LADE_CLOSED, memory_order_release);
    lade_event_notify_all(&event);
}

static void finish(void)
{
    assert(took == 1);
}

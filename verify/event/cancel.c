/* harness
 * property: cancel ends each wait, even if there is an item whose notifier stopped before it notified
 * engines: explore genmc
 * threads: 3
 * bound: two waiters that check for the mark first; one item without a notification, then cancel
 * executions: 100
 * cover: cancelled took
 * timeout: 240
 */
#define THREADS 3
#include "harness.h"

#include "futex.h"

#include "things.h"

static int status[2];

static void setup(void)
{
    make_event();
}

static void thread(int id)
{
    if (id < 2) {
        status[id] = lade_event_await(&event, end_or_take, NULL, -1);
        return;
    }
    put_things(1); /* without a notification */
    end_with(LADE_CANCELLED);
    lade_event_notify_all(&event);
}

static void finish(void)
{
    int took = (status[0] == LADE_OK) + (status[1] == LADE_OK);

    assert(took + atomic_load(&things) == 1);
    if (took)
        cover(took);
    else
        cover(cancelled);
}

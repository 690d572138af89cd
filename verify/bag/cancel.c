/* harness
 * property: cancel ends a draw that waits
 * engines: explore
 * threads: 2
 * bound: 1 slot; cancel twice against a waiting draw
 * executions: 3
 * cover: cancelled
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static _Atomic int ended;

static void setup(void)
{
    atomic_store(&ended, 0);
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        lade_bag_cancel(bag);
        /* It may have come before the wait; then only a put ends that. */
        assert(put(0, 1) == LADE_OK);
    } else if (lade_bag_draw_wait(handle[1], &out[1], LADE_FOREVER) == LADE_CANCELLED) {
        cover(cancelled);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

/* harness
 * property: a call that has seen the event of a cancel, or of a close, sees the cancel or the close too
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; cancel and close against what a waiting draw does
 * executions: 3
 * cover: cancelled
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static void setup(void)
{
    make_bag(1);
}

static void thread(int id)
{
    static uint32_t number;

    if (id == 0) {
        lade_bag_cancel(bag);
        lade_bag_close(bag);
    } else {
        lade_event_expect(&bag->arrived);
        number = lade_event_number(&bag->arrived);
        if (number > 0) {
            assert(atomic_load_explicit(&bag->cancelled, memory_order_relaxed) == 1);
            cover(cancelled);
        }
        if (number > 1)
            assert(lade_bag_draw(handle[1], &out[1]) == LADE_CLOSED);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

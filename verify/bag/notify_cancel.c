/* harness
 * property: cancel wakes a waiting draw, which then observes the cancellation
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; cancel against draw_wait that has begun
 * executions: 3
 * cover: slept cancelled
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

#include "bag_wait.c"

static int status;

static void setup(void)
{
    make_bag(1);
    nobody_sleeps();
}

static void thread(int id)
{
    static const struct call draw = {.which = DRAW_CALL, .out = &out[1]};
    struct waiting_call c = {handle[1], &draw, 0}; /* it began before the cancel */

    if (id == 0)
        lade_bag_cancel(bag);
    else
        status = lade_event_await(&bag->arrived, call_or_await, &c, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
    if (status == LADE_CANCELLED)
        cover(cancelled);
    lade_bag_destroy(bag);
}

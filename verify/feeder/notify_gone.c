/* harness
 * property: the last thread that leaves, or the last consumer that fills, wakes a stop that waits for it
 * threads: 2
 * bound: stop against a consumer that is about to fill
 * executions: 16
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

static void setup(void)
{
    make_feeder();
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        if (enter(&feeder))
            lade_feeder_gone(&feeder);
    } else {
        (void)lade_feeder_await_alone(&feeder, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
}

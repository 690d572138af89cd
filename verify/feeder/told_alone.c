/* harness
 * property: close that goes to sleep is told when the last consumer that fills, or thread, is gone
 * threads: 2
 * bound: close against a consumer that is about to fill
 * executions: 16
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "tells.h"

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

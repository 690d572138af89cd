/* harness
 * property: stop wakes a filler that waits for a device that hangs
 * threads: 2
 * bound: 1 slot whose copy never ends; stop against the filler
 * executions: 5
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

static int never(void *self, void *event, struct lade_device_failure *failure)
{
    (void)self;
    (void)event;
    (void)failure;
    return 0;
}

static void setup(void)
{
    make_feeder();
    nobody_sleeps();
    backend.query = never;
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id == 0)
        lade_slots_stop(&feeder.slots, LADE_CLOSED);
    else
        number = (uint64_t)lade_feeder_await(&feeder, NULL, TIME_ENOUGH, true, NULL);
}

static void finish(void)
{
    nobody_sleeps_on();
}

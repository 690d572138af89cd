/* harness
 * property: a batch that is on its way to the device wakes a consumer that waits for it
 * threads: 2
 * bound: 1 slot; a filler against a consumer that waits
 * executions: 21
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
    uint64_t number = 0;

    if (id == 0)
        assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK && fill_slot(&feeder, number));
    else
        (void)slots_wait(&feeder, TAKE, &number, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
}

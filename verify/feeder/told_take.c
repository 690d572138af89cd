/* harness
 * property: a consumer that goes to sleep is told of the batch that is on its way
 * threads: 2
 * bound: 1 slot, filled; the copier against a consumer that waits
 * executions: 6
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "tells.h"

#include "small.h"

static void setup(void)
{
    uint64_t number = 0;

    make_feeder();
    nobody_sleeps();
    assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK);
    assert(fill_slot(&feeder, number));
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id == 0)
        assert(copy_slot(&feeder, 0));
    else
        (void)slots_wait(&feeder, TAKE, &number, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
}

/* harness
 * property: a release wakes a filler that waits for a slot
 * threads: 2
 * bound: 1 slot, in use; release against a filler that waits
 * executions: 6
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    make_feeder();
    nobody_sleeps();
    use_first(&batch);
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id == 0)
        assert(lade_feeder_release(&feeder, &batch, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    else
        (void)slots_wait(&feeder, CLAIM, &number, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
}

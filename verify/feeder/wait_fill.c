/* harness
 * property: a filler that waits for a slot is woken by its release
 * engines: explore
 * threads: 2
 * bound: 1 slot, in use; release against a filler that sleeps
 * executions: 9
 * cover: told
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    make_feeder();
    use_first(&batch);
}

static void thread(int id)
{
    if (id == 0)
        assert(lade_feeder_release(&feeder, &batch, LADE_FEEDER_DONE, NULL) == LADE_OK);
    else
        assert(lade_feeder_fill_one(&feeder));
}

static void finish(void)
{
    assert(staging[0] == 2);
    if (atomic_load(&feeder.slots.freed.number))
        cover(told);
}

/* harness
 * property: drain wakes a filler that waits, which goes
 * engines: explore
 * threads: 2
 * bound: 1 slot, in use; drain against a filler that sleeps
 * executions: 7
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
        lade_feeder_drain(&feeder);
    else
        assert(!lade_feeder_fill_one(&feeder));
}

static void finish(void)
{
    if (atomic_load(&feeder.slots.freed.number))
        cover(told);
}

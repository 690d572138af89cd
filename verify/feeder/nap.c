/* harness
 * property: a filler that waits for a device that hangs goes when the feeder is closed
 * engines: explore
 * threads: 2
 * bound: 1 slot whose copy never ends; close against the filler
 * executions: 7
 * cover: told
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#define LADE_FEEDER_NAP(word, number, until) lade_futex_wait(word, number, until)
#include "small.h"

static int never(void *self, void *event, struct lade_feeder_failure *failure)
{
    (void)self;
    (void)event;
    (void)failure;
    return 0;
}

static void setup(void)
{
    make_feeder();
    backend.query = never;
}

static void thread(int id)
{
    if (id == 0)
        lade_slots_stop(&feeder.slots, LADE_CLOSED);
    else
        assert(!lade_feeder_fill_one(&feeder));
}

static void finish(void)
{
    if (atomic_load(&feeder.slots.freed.number))
        cover(told);
}

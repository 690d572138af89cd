/* harness
 * property: the copier that waits for a batch is woken when it is filled
 * engines: explore
 * threads: 2
 * bound: 1 slot; a filler against the copier that sleeps
 * executions: 21
 * cover: told
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static void setup(void)
{
    make_feeder();
}

static void thread(int id)
{
    if (id == 0)
        assert(lade_feeder_fill_one(&feeder));
    else
        assert(lade_feeder_copy_one(&feeder, 0));
}

static void finish(void)
{
    assert(memory[0] == 1);
    if (atomic_load(&feeder.slots.filled.number))
        cover(told);
}

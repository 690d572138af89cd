/* harness
 * property: a consumer that waits for a batch is woken when it is on its way
 * engines: explore
 * threads: 2
 * bound: 1 slot; a filler against a consumer that sleeps
 * executions: 44
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
}

static void thread(int id)
{
    if (id == 0) {
        assert(lade_feeder_fill_one(&feeder));
    } else {
        assert(lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL) == LADE_OK);
        check_batch(&batch);
    }
}

static void finish(void)
{
    if (atomic_load(&feeder.slots.ready.number))
        cover(told);
}

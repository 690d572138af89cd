/* harness
 * property: consumers that fill get each batch once and complete, and each slot is filled by one at a time
 * engines: explore native tsan
 * threads: 2
 * bound: 1 slot, 2 consumers that fill, one batch each, no filler
 * executions: 14900
 * cover: other
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch[2];

static void setup(void)
{
    make_feeder();
    feeder.consumer_assists = true;
}

static void thread(int id)
{
    assert(lade_feeder_next(&feeder, &batch[id], LADE_FOREVER, NULL) == LADE_OK);
    check_batch(&batch[id]);
    assert(lade_feeder_release(&feeder, &batch[id], LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    if (id == 0 && batch[id].number == 1)
        cover(other);
}

static void finish(void)
{
    assert(batch[0].number + batch[1].number == 1);
    assert(atomic_load(&feeder.running) == 0);
}

/* harness
 * property: after stop no thread fills or copies, not even a consumer
 * threads: 2
 * bound: 1 slot; stop against a consumer that fills
 * executions: 77
 * cover: before behind
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;
static uint64_t seen;

static void setup(void)
{
    make_feeder();
    feeder.consumer_assists = true;
    seen = 0;
}

static void thread(int id)
{
    if (id == 0) {
        lade_slots_stop(&feeder.slots, LADE_CLOSED);
        assert(lade_feeder_await_alone(&feeder, -1) == LADE_OK);
        seen = copies; /* a plain word: a copy after stop is a data race */
    } else {
        int status = lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL);
        assert(status == LADE_OK || status == LADE_CLOSED);
    }
}

static void finish(void)
{
    assert(seen == copies);
    if (copies)
        cover(before);
    else
        cover(behind);
}

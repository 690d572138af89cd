/* harness
 * property: with a filler and a consumer that fills, each batch is delivered once, in order and complete
 * engines: explore native tsan
 * threads: 2
 * bound: 2 slots, a filler with one batch, a consumer of one that fills
 * executions: 2188
 * cover: helped alone
 */
#define THREADS 2
#define DEPTH 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;
static uint64_t filled;

static void setup(void)
{
    make_feeder();
    feeder.consumer_assists = true;
}

static void thread(int id)
{
    if (id == 0) {
        STEP_FILL(&filled);
        return;
    }
    assert(lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL) == LADE_OK);
    check_batch(&batch);
    assert(batch.number == 0);
}

static void finish(void)
{
    assert(filled < 2 && copies >= 1);
    if (filled == 1)
        cover(helped);
    if (copies == 1)
        cover(alone);
}

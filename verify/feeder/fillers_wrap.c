/* harness
 * property: of two fillers at one slot, one gets it and the other waits for its release
 * threads: 3
 * bound: 1 slot, 2 fillers with one batch each; consumer of both
 * executions: 272
 * executions genmc: 142
 * cover: both
 * flags genmc: --disable-ipr
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;
static uint64_t filled[2];

static void setup(void)
{
    make_feeder();
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id < 2) {
        STEP_FILL(&number);
        filled[id] = number;
        return;
    }
    for (uint64_t i = 0; i < 2; i++) {
        STEP_TAKE(&batch, &number);
        assert(number == i);
        assert(lade_feeder_release(&feeder, &batch, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    }
    cover(both);
}

static void finish(void)
{
    assert(filled[0] + filled[1] == 1);
}

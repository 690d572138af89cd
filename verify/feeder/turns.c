/* harness
 * property: each batch is delivered once, in order and complete, and no slot is written while it is in use
 * threads: 2
 * bound: 1 slot, 2 batches; a filler, a consumer
 * executions: 16
 * executions genmc: 12
 * cover: again
 * flags genmc: --disable-ipr
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    make_feeder();
}

static void thread(int id)
{
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t number = 0;
        if (id == 0) {
            STEP_FILL(&number);
        } else {
            STEP_TAKE(&batch, &number);
            assert(number == i);
            if (i == 1)
                cover(again);
            assert(lade_feeder_release(&feeder, &batch, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
        }
    }
}

static void finish(void)
{
}

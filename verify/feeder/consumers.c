/* harness
 * property: each batch goes to one consumer, and they release in any order
 * threads: 3
 * bound: 2 slots, full; 2 consumers with one batch each, a filler of one more
 * executions: 40
 * executions genmc: 40
 * cover: refilled
 * flags genmc: --disable-ipr
 */
#define THREADS 3
#define DEPTH 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch[2];
static uint64_t taken[2];

static void setup(void)
{
    uint64_t number = 0;

    make_feeder();
    for (uint64_t i = 0; i < 2; i++) {
        assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK);
        assert(fill_slot(&feeder, number));
    }
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id < 2) {
        STEP_TAKE(&batch[id], &number);
        taken[id] = number;
        assert(lade_feeder_release(&feeder, &batch[id], LADE_DONE_NOW, NULL, NULL) == LADE_OK);
    } else {
        STEP_FILL(&number);
        assert(number == 2);
        cover(refilled);
    }
}

static void finish(void)
{
    assert(taken[0] + taken[1] == 1);
}

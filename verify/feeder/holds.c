/* harness
 * property: a slot is overwritten only after the batch and its exported tensor are both released
 * threads: 3
 * bound: 1 slot; the batch and one tensor, each in a separate thread; a filler of the next batch
 * executions: 4
 * cover: refilled
 * flags genmc: --disable-ipr
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    uint64_t number = 0;

    make_feeder();
    afters = 0;
    assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK);
    assert(fill_slot(&feeder, number));
    assert(lade_slots_take(&feeder.slots, &number) == LADE_OK);
    hand_out(&feeder, 0, &batch);
    assert(lade_ref_get(&slots[0].holds) == LADE_OK); /* as an exported tensor does */
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id < 2) {
        check_batch(&batch);
        assert(lade_feeder_let_go(&feeder, &slots[0], (unsigned)id, LADE_DONE_STREAM, NULL) == LADE_OK);
    } else {
        STEP_FILL(&number);
        assert(number == 1);
        assert(afters == 2);
        cover(refilled);
    }
}

static void finish(void)
{
}

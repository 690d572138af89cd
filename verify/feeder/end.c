/* harness
 * property: when fill reports the end of the batches, the consumer gets every batch before it, then CLOSED
 * threads: 3
 * bound: 2 slots, 1 batch; 2 fillers with one try each, a consumer
 * executions: 1832
 * executions genmc: 1832
 * flags genmc: --disable-ipr
 * cover: ended
 */
#define THREADS 3
#define DEPTH 2
#define BATCHES 1
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    make_feeder();
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id < 2) {
        if (lade_slots_claim(&feeder.slots, &number) == LADE_OK)
            assert(fill_slot(&feeder, number) == (number == 0));
        return;
    }
    STEP_TAKE(&batch, &number);
    assert(number == 0);
    wait_for(atomic_load_explicit(&turns[1].word, memory_order_relaxed) >= lade_slot_word(1, SLOT_READY));
    assert(lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL) == LADE_CLOSED);
    assert(lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL) == LADE_CLOSED);
    cover(ended);
}

static void finish(void)
{
    uint64_t number = 0;

    assert(lade_slots_claim(&feeder.slots, &number) == LADE_CLOSED);
}

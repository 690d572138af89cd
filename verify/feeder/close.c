/* harness
 * property: after close the consumer gets every batch that was begun, then CLOSED
 * threads: 2
 * bound: 2 slots; a filler of up to 2 batches against close and a consumer that takes what there is
 * executions: 23
 * executions genmc: 23
 * cover: none one both
 */
#define THREADS 2
#define DEPTH 2
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;
static uint64_t filled, taken;
static int status;

static void setup(void)
{
    make_feeder();
    filled = taken = 0;
}

static void thread(int id)
{
    uint64_t number = 0;

    if (id == 0) {
        while (filled < 2 && lade_slots_claim(&feeder.slots, &number) == LADE_OK) {
            assert(fill_slot(&feeder, number));
            filled++;
        }
    } else {
        lade_feeder_close(&feeder);
        while ((status = lade_slots_take(&feeder.slots, &number)) == LADE_OK) {
            assert(number == taken++);
            hand_out(&feeder, number, &batch);
            check_batch(&batch);
            assert(lade_feeder_release(&feeder, &batch, LADE_DONE_NOW, NULL, NULL) == LADE_OK);
        }
    }
}

static void finish(void)
{
    uint64_t number = 0;

    /* Batches that were in flight while the consumer checked arrive afterwards. */
    assert(status == LADE_CLOSED ? taken == filled : taken < filled);
    while (lade_slots_take(&feeder.slots, &number) == LADE_OK)
        assert(number == taken++);
    assert(taken == filled);
    assert(lade_slots_take(&feeder.slots, &number) == LADE_CLOSED);
    assert(lade_slots_claim(&feeder.slots, &number) == LADE_CLOSED);
    if (filled == 0)
        cover(none);
    if (filled == 1)
        cover(one);
    if (filled == 2)
        cover(both);
}

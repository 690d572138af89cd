/* harness
 * property: the memory of a slot is not overwritten while the device copies from it or the consumer's stream uses it
 * threads: 3
 * bound: 1 slot, 2 batches; the host, the copy stream, the consumer's stream
 * executions: 2
 * flags genmc: --disable-ipr
 * cover: used
 */
#define THREADS 3
#define DEVICE
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

    for (uint64_t i = 0; i < 2; i++) {
        if (id == 0) {
            assert(lade_slots_claim(&feeder.slots, &number) == LADE_OK);
            assert(fill_slot(&feeder, number));
            assert(lade_slots_take(&feeder.slots, &number) == LADE_OK);
            hand_out(&feeder, i, &batch);
            assert(lade_feeder_release(&feeder, &batch, LADE_DONE_STREAM, &batch, NULL) == LADE_OK);
        } else {
            while (!can_work(id - 1, i))
                ;
            do_work(id - 1, i);
            if (id == 2 && i == 1)
                cover(used);
        }
    }
}

static void finish(void)
{
}

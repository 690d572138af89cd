/* harness
 * property: a thread that observes a device failure finds the complete record of one failure, the first, even if two threads meet one each
 * threads: 3
 * bound: 1 slot; 2 failures, a consumer
 * executions: 4
 * cover: observed
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static struct lade_feeder_batch batch;

static void setup(void)
{
    make_feeder();
    feeder.failure.code = 0;
}

static void thread(int id)
{
    if (id < 2) {
        struct lade_device_failure failure;
        failure.call = NULL;
        failure.code = 5;
        failure.text[0] = 0;
        assert(lade_feeder_fail(&feeder, &failure) == LADE_DEVICE);
    } else {
        uint64_t number = 0;
        int status = lade_slots_take(&feeder.slots, &number);
        if (status == LADE_DEVICE) {
            assert(report_end(&feeder, status, number, NULL) == LADE_DEVICE);
            cover(observed);
        }
    }
}

static void finish(void)
{
    assert(lade_feeder_next(&feeder, &batch, LADE_FOREVER, NULL) == LADE_DEVICE);
}

/* harness
 * property: a worker that hands over a batch notifies a consumer that accepts any batch
 * threads: 2
 * bound: 2 places; a worker hands over the second batch, the consumer checks for both
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

static int look_or_await(void *context, int64_t *until)
{
    uint64_t buffer;

    (void)context, (void)until;
    return lade_batch_ring_look(&ring, 0, &buffer) || lade_batch_ring_look(&ring, 1, &buffer) ? LADE_OK : LADE_AWAIT;
}

static void setup(void)
{
    make_ring();
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        assert(lade_batch_ring_publish(&ring, 1, 1));
        lade_batch_ring_notify(&ring, &ready, 1);
    } else {
        lade_batch_ring_await(&ring, LADE_ANY_BATCH);
        (void)lade_event_await(&ready, look_or_await, NULL, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
}

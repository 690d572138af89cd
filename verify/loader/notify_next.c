/* harness
 * property: a consumer that proceeds to the next batch is notified of it, whichever worker checked for waiters in between
 * threads: 3
 * bound: 2 places; two workers hand over a batch each, the consumer awaits the first and then the second
 * executions: 10
 * cover: slept unasked
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

static uint64_t next;

static int look_or_await(void *context, int64_t *until)
{
    uint64_t buffer;

    (void)context, (void)until;
    return lade_batch_ring_look(&ring, next, &buffer) ? LADE_OK : LADE_AWAIT;
}

static void setup(void)
{
    make_ring();
    nobody_sleeps();
}

static void thread(int id)
{
    if (id != SLEEPER) {
        uint64_t batch = (uint64_t)id / 2;
        assert(lade_batch_ring_publish(&ring, batch, batch));
        lade_batch_ring_notify(&ring, &ready, batch);
        return;
    }
    for (next = 0; next < 2 && !slept_on; next++) {
        lade_batch_ring_await(&ring, next);
        (void)lade_event_await(&ready, look_or_await, NULL, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    if (!slept_on && atomic_load(&ready.number) == 0)
        cover(unasked);
}

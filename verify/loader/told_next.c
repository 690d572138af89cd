/* harness
 * property: a consumer that goes on to the next batch is told of that one, whoever looked for waiters in between
 * threads: 3
 * bound: 2 places; two workers hand over a batch each, the consumer awaits the first and then the second
 * executions: 10
 * cover: waits unasked
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static uint32_t number;
static uint64_t missed;

static void setup(void)
{
    make_ring();
    missed = LADE_ANY_BATCH;
}

static void thread(int id)
{
    uint64_t buffer;

    if (id < 2) {
        assert(lade_ring_publish(&ring, (uint64_t)id, (uint64_t)id));
        lade_ring_tell(&ring, &ready, (uint64_t)id);
        return;
    }
    for (uint64_t k = 0; k < 2; k++) {
        lade_ring_await(&ring, &ready, k);
        number = lade_event_number(&ready);
        if (!lade_ring_look(&ring, k, &buffer)) {
            missed = k;
            return;
        }
        lade_event_leave(&ready);
    }
}

static void finish(void)
{
    if (missed == LADE_ANY_BATCH) {
        if (atomic_load(&ready.number) == 0)
            cover(unasked);
        return;
    }
    assert(atomic_load(&ready.number) != number);
    if (missed == 1)
        cover(waits);
}

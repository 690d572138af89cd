/* harness
 * property: a consumer that takes any batch is told of the one that it has missed
 * threads: 2
 * bound: 2 places; a worker hands over the second batch, the consumer looks for both
 * executions: 3
 * cover: waits
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

static uint32_t number;
static bool found;

static void setup(void)
{
    make_ring();
}

static void thread(int id)
{
    uint64_t buffer;

    if (id == 0) {
        assert(lade_ring_publish(&ring, 1, 1));
        lade_ring_tell(&ring, &ready, 1);
    } else {
        lade_ring_await(&ring, &ready, LADE_ANY_BATCH);
        number = lade_event_number(&ready);
        found = lade_ring_look(&ring, 0, &buffer) || lade_ring_look(&ring, 1, &buffer);
    }
}

static void finish(void)
{
    if (!found) {
        assert(atomic_load(&ready.number) != number);
        cover(waits);
    }
}

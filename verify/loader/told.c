/* harness
 * property: a consumer that is about to sleep is told of the batch that it has missed
 * threads: 2
 * bound: 2 places; a worker hands over the second batch, the consumer awaits it after the first
 * executions: 3
 * cover: waits
 */
#define THREADS 2
#include "harness.h"

#include "bag/futex.h"

#include "small.h"

/* It would sleep for ever if the number were the same in the end. */
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
        content[1] = 11;
        assert(lade_ring_publish(&ring, 1, 1));
        lade_ring_tell(&ring, &ready, 1);
    } else {
        lade_ring_await(&ring, &ready, 1);
        number = lade_event_number(&ready);
        found = lade_ring_look(&ring, 1, &buffer);
        if (found)
            assert(content[buffer] == 11);
    }
}

static void finish(void)
{
    if (!found) {
        assert(atomic_load(&ready.number) != number);
        cover(waits);
    }
}

/* harness
 * property: batches reach the consumer in order, each once and complete, while two workers make them
 * threads: 3
 * bound: 2 places, 3 buffers, three batches: the last one has the place of the first
 * executions: 8
 * cover: overtaken
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make_ring();
}

static void make(uint64_t k)
{
    while (!lade_batch_ring_has_place(&ring, k))
        ;
    content[k] = k + 10;
    assert(lade_batch_ring_publish(&ring, k, k));
}

static void thread(int id)
{
    if (id == 0) {
        make(0);
        make(2);
    } else if (id == 1) {
        make(1);
    } else {
        uint64_t buffer;
        if (lade_batch_ring_look(&ring, 1, &buffer) && !lade_batch_ring_look(&ring, 0, &buffer))
            cover(overtaken);
        for (uint64_t k = 0; k < 3; k++) {
            while (!lade_batch_ring_look(&ring, k, &buffer))
                ;
            assert(buffer == k && content[buffer] == k + 10);
            lade_batch_ring_advance(&ring, k + 1);
        }
    }
}

static void finish(void)
{
    assert(atomic_load(&ring.low) == 3);
}

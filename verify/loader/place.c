/* harness
 * property: a batch that has a place overwrites no batch that the consumer has not yet checked
 * threads: 2
 * bound: 1 place, two batches, one of which may find no place
 * executions: 4
 * cover: none taken left
 */
#define THREADS 2
#define PLACES 1
#include "harness.h"

#include "small.h"

static uint64_t made, taken;

static void setup(void)
{
    make_ring();
    made = taken = 0;
}

static void thread(int id)
{
    if (id == 0) {
        for (uint64_t k = 0; k < 2; k++) {
            if (!lade_batch_ring_has_place(&ring, k)) {
                cover(none);
                return;
            }
            content[k] = k + 10;
            assert(lade_batch_ring_publish(&ring, k, k));
            made++;
            pause_here();
        }
    } else {
        uint64_t buffer;
        for (uint64_t k = 0; k < 2 && lade_batch_ring_look(&ring, k, &buffer); k++) {
            assert(buffer == k && content[buffer] == k + 10);
            lade_batch_ring_advance(&ring, k + 1);
            taken++;
        }
        if (taken == 2)
            cover(taken);
    }
}

static void finish(void)
{
    uint64_t buffer;

    assert(taken <= made && made - taken <= PLACES);
    if (taken < made) {
        assert(lade_batch_ring_look(&ring, taken, &buffer));
        assert(buffer == taken && content[buffer] == taken + 10);
        cover(left);
    }
}

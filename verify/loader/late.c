/* harness
 * property: of a late worker and its replacement, one hands over the batch, and the other keeps a buffer that it may write
 * threads: 3
 * bound: 1 place, 2 buffers; both make the first batch, the one that still has a buffer makes the second
 * executions: 8
 * executions genmc: 8
 * cover: late first
 * timeout: 120
 */
#define THREADS 3
#define PLACES 1
#define BUFFERS 2
#include "harness.h"

#include "small.h"

static bool has[2];
static uint64_t taken, held;

static void setup(void)
{
    make_ring();
    has[0] = has[1] = true;
    taken = held = 0;
}

/* The two workers write different values. */
static void make(int id, uint64_t k)
{
    content[id] = 100 * (uint64_t)id + k;
    if (lade_batch_ring_publish(&ring, k, (uint64_t)id))
        has[id] = false;
}

static void thread(int id)
{
    if (id < 2) {
        make(id, 0);
        if (has[id] && lade_batch_ring_has_place(&ring, 1))
            make(id, 1);
        return;
    }
    uint64_t buffer;
    for (uint64_t k = 0; k < 2 && lade_batch_ring_look(&ring, k, &buffer); k++) {
        assert(content[buffer] == 100 * buffer + k);
        taken++;
        held |= UINT64_C(1) << buffer;
        lade_batch_ring_advance(&ring, k + 1);
        if (buffer == 0 && k == 0)
            cover(late);
        if (buffer == 1 && k == 0)
            cover(first);
    }
}

static void finish(void)
{
    uint64_t buffer;

    if (lade_batch_ring_look(&ring, taken, &buffer)) {
        assert(content[buffer] == 100 * buffer + taken);
        held |= UINT64_C(1) << buffer;
        taken++;
    }
    /* Each buffer is still with the worker that filled it, or was handed over with the batch. */
    assert(taken > 0 && taken == (uint64_t)!has[0] + !has[1]);
    assert(held == ((uint64_t)!has[0] | (uint64_t)!has[1] << 1));
}

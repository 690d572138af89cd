/* harness
 * property: a worker that finds an offered batch finds its list, and the end mark follows the last list
 * threads: 2
 * bound: two batches, offered one by one; two checks of each
 * executions: 6
 * cover: first second nothing over
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

/* A late worker may read a list, so its words are atomic. */
static _Atomic uint64_t list[2];

static void setup(void)
{
    make_ring();
    for (int i = 0; i < 2; i++)
        atomic_store(&list[i], 0);
}

static void look_for(uint64_t batch)
{
    bool last;

    if (lade_batch_ring_is_offered(&ring, batch, &last)) {
        assert(!last && batch < 2);
        assert(atomic_load_explicit(&list[batch], memory_order_relaxed) == batch + 10);
        if (batch == 0)
            cover(first);
        else
            cover(second);
    } else if (last) {
        assert(batch == 2);
        cover(over);
    } else {
        cover(nothing);
    }
}

static void thread(int id)
{
    if (id == 0) {
        for (uint64_t k = 0; k < 2; k++) {
            atomic_store_explicit(&list[k], k + 10, memory_order_relaxed);
            lade_batch_ring_offer(&ring, k + 1, k == 1);
        }
        return;
    }
    for (uint64_t k = 0; k < 3; k++)
        look_for(k);
}

static void finish(void)
{
    look_for(2);
}

/* harness
 * property: under evict-oldest, put t removes put t - capacity and nothing newer, even when puts overtake each other
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; two puts against one
 * executions: 3
 * cover: overtaken
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static _Atomic uint64_t dropped;

static void dropping(void *context, uint64_t word)
{
    (void)context;
    atomic_fetch_add_explicit(&dropped, word, memory_order_relaxed);
}

static void setup(void)
{
    atomic_store(&dropped, 0);
    config.full = LADE_BAG_EVICT_OLDEST;
    config.drop = dropping;
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
        assert(put(0, 2) == LADE_OK);
    } else {
        assert(put(1, 4) == LADE_OK);
    }
}

static void finish(void)
{
    static uint64_t last;

    /* Whichever put was last, the slot holds the element of the put with the highest number. */
    assert((atomic_load(&bag->slot[0]) & LAP_BITS) >> LAP_SHIFT == 3);
    last = draw(THREADS);
    assert(last == 2 || last == 4);
    if (last == 4)
        cover(overtaken);
    assert(last + atomic_load(&dropped) == 7);
    assert(draw(THREADS) == 0);
    lade_bag_destroy(bag);
}

/* harness
 * property: a put on a full bag replaces another element, and every element is drawn or evicted exactly once
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full; put against put, or draw
 * executions: 3
 * cover: evicted
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static _Atomic uint64_t dropped;

static void dropping(void *context, uint64_t word)
{
    (void)context;
    atomic_fetch_add_explicit(&dropped, word, memory_order_relaxed);
}

static uint64_t got;

static void setup(void)
{
    atomic_store(&dropped, 0);
    config.full = LADE_BAG_EVICT_UNIFORM;
    config.drop = dropping;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    got = 0;
}

static void thread(int id)
{
    if (id == 0)
        assert(put(0, 2) == LADE_OK);
    else
        got = draw(1);
    if (id == 1)
        assert(got != 0);
}

static void finish(void)
{
    if (atomic_load(&dropped))
        cover(evicted);
    got += draw(THREADS);
    assert(got + atomic_load(&dropped) == 3);
    lade_bag_destroy(bag);
}

/* harness
 * property: FULL is accurate: a put never returns FULL on a bag that always has a free slot
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups, one element; draw and put against put
 * executions: 2
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0)
        assert(draw(0) != 0);
    pause_here();
    assert(put(id, 2 + (uint64_t)id) == LADE_OK);
}

static void finish(void)
{
    assert(put(THREADS, 5) == LADE_FULL);
    lade_bag_destroy(bag);
}

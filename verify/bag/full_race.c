/* harness
 * property: a thread that has freed a slot of a full bag can put, unless another thread did, even while that thread checks for FULL
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full; draw and put against put
 * executions: 2
 * cover: other
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static int status[THREADS];

static void setup(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0)
        assert(draw(0) == 1);
    pause_here();
    status[id] = put(id, 2 + (uint64_t)id);
    if (id == 1 && status[1] == LADE_OK)
        cover(other);
}

static void finish(void)
{
    assert((status[0] == LADE_OK) + (status[1] == LADE_OK) == 1);
    assert((status[0] == LADE_FULL) + (status[1] == LADE_FULL) == 1);
    assert(draw(THREADS) == (status[0] == LADE_OK ? 2 : 3));
    lade_bag_destroy(bag);
}

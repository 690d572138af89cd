/* harness
 * property: two threads that check for EMPTY, one completing the other's check, do not miss a concurrent put
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 2 slots in 2 groups, one in use; put against two draws
 * executions: 10
 * cover: both
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
    assert(draw(0) == 1);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0)
        assert(put(0, 2) == LADE_OK);
    else
        got[id] = draw(id);
}

static void finish(void)
{
    uint64_t left = draw(THREADS);

    if (left == 0)
        cover(both);
    assert(got[1] + got[2] + left == 3);
    assert(draw(THREADS) == 0);
    lade_bag_destroy(bag);
}

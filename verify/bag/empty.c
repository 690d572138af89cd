/* harness
 * property: EMPTY is accurate: a draw never returns EMPTY on a bag that always holds at least one completed element
 * threads: 2
 * bound: 2 slots in 2 groups, one element; put and draw against draw
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
        assert(put(0, 2) == LADE_OK);
    pause_here();
    assert(draw(id) != 0);
}

static void finish(void)
{
    assert(draw(THREADS) == 0);
    lade_bag_destroy(bag);
}

/* harness
 * property: a thread that has put an element into an empty bag can draw it, unless another thread has drawn it
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups; put and draw against draw
 * executions: 2
 * cover: other
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make_bag(2);
}

static void thread(int id)
{
    if (id == 0)
        assert(put(0, 1) == LADE_OK);
    pause_here();
    got[id] = draw(id);
    if (id == 1 && got[1])
        cover(other);
}

static void finish(void)
{
    assert(got[0] + got[1] == 1);
    lade_bag_destroy(bag);
}

/* harness
 * property: two threads that check for FULL, one completing the other's check, do not miss a slot that is freed concurrently
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 2 slots in 2 groups, one free; draw against two puts
 * executions: 10
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static int status[THREADS];

static void setup(void)
{
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
    assert(put(0, 2) == LADE_OK);
    assert(put(0, 3) == LADE_FULL);
    assert(draw(0) != 0);
}

static void thread(int id)
{
    if (id == 0)
        assert(draw(0) != 0);
    else
        status[id] = put(id, 2 + (uint64_t)id);
}

static void finish(void)
{
    int done = 0;

    done = (status[1] == LADE_OK) + (status[2] == LADE_OK);

    /*
     * At most one of the first two elements is left, and one is drawn, so there is a free slot for each put that did
     * not succeed.
     */
    for (; done < 2; done++)
        assert(put(THREADS, 5) == LADE_OK);
    assert(put(THREADS, 5) == LADE_FULL);
    lade_bag_destroy(bag);
}

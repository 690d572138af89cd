/* harness
 * property: a thread that has seen the bag empty does not get FULL from a check that began before
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 1 slot, full; a draw that stops after it took the element, EMPTY and then put, put
 * executions: 10
 * cover: empty
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static int status[THREADS], drawn;

static void setup(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    static uint64_t one;

    if (id == 0) {
        one = 1;
        atomic_compare_exchange_strong(&bag->slot[0], &one, 0); /* as [bag.take] */
        return;
    }
    if (id == 1) {
        drawn = lade_bag_choose_by_passes(handle[1], DRAW, 0);
        if (drawn != LADE_EMPTY)
            return;
    }
    status[id] = lade_bag_fill_or_full(handle[id], 1 + (uint64_t)id);
}

static void finish(void)
{
    /* Thread 1 saw the bag empty and thread 2 put nothing, so there is a free slot for thread 1. */
    if (drawn == LADE_EMPTY && status[2] == LADE_FULL) {
        assert(status[1] == LADE_OK);
        cover(empty);
    }
    lade_bag_destroy(bag);
}

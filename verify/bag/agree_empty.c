/* harness
 * property: a thread that has seen the bag full does not get EMPTY from a check that began before
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 1 slot, empty; a put that stops after it reserved a slot, FULL and then draw, draw
 * executions: 10
 * cover: full
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static int status[THREADS], full;

static void setup(void)
{
    make_bag(1);
    assert(put(0, 9) == LADE_OK && draw(0) == 9);
}

static void thread(int id)
{
    static uint64_t none;

    if (id == 0) {
        none = 0;
        atomic_compare_exchange_strong(&bag->slot[0], &none, 1); /* as [bag.put.slot] */
        return;
    }
    if (id == 1) {
        full = lade_bag_fill_or_full(handle[1], 2);
        if (full != LADE_FULL)
            return;
    }
    status[id] = lade_bag_choose_by_passes(handle[id], DRAW, 0);
}

static void finish(void)
{
    /* Thread 1 saw the bag full and thread 2 drew nothing, so there is an element for thread 1. */
    if (full == LADE_FULL && status[2] == LADE_EMPTY) {
        assert(status[1] == LADE_OK);
        cover(full);
    }
    lade_bag_destroy(bag);
}

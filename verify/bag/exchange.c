/* harness
 * property: the word that an exchange leaves is not missed, even if the put that it replaced has not completed
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups, one element; put into the empty group against exchange there and two draws
 * executions: 3
 * cover: swapped
 */
#define THREADS 2
#define TRIES 1
#define below(n) ((n) - 1)
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make_bag(2);
    assert(put(0, 4) == LADE_OK);
    assert(put(0, 9) == LADE_OK && draw(0) == 9);
    /* The second group is known to be empty. */
    assert(scan_group(bag, 1, true) == 0);
}

/* Scans the groups at once: a random probe would find the slot, whatever the state of its group. */
static uint64_t find(int id)
{
    return lade_bag_choose_by_passes(handle[id], DRAW, 0) == LADE_OK ? handle[id]->seen : 0;
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
        return;
    }
    in[1] = 2;
    assert(lade_bag_exchange(handle[1], &in[1], &out[1]) == LADE_OK);
    if (out[1] == 1) {
        assert(find(1) + find(1) == 4 + 2);
        cover(swapped);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

/* harness
 * property: with put, draw and exchange on one slot, each word is drawn once or is still in the bag
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: 2 slots in one group, one element; put, draw, exchange
 * executions: 10
 * cover: swapped
 * timeout: 120
 */
#define THREADS 3
#define SLOTS_IN_GROUP 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 2) == LADE_OK);
    } else if (id == 1) {
        got[1] = draw(1);
    } else {
        in[2] = 4;
        if (lade_bag_exchange(handle[2], &in[2], &out[2]) == LADE_OK) {
            got[2] = out[2];
            assert(got[2] != 4);
            cover(swapped);
        } else {
            got[2] = 4;
        }
    }
}

static void finish(void)
{
    static uint64_t sum;

    sum = got[1] + got[2];
    for (uint64_t left = draw(THREADS); left; left = draw(THREADS))
        sum += left;
    assert(sum == 1 + 2 + 4);
    sum = 0;
    lade_bag_destroy(bag);
}

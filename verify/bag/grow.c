/* harness
 * property: an element that is put while more slots become active is not missed, and a draw finds it there
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 3 slots in 3 groups, the first in use; two puts against two draws
 * executions: 10
 * cover: two
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static uint64_t got;

static void setup(void)
{
    make_bag(3);
    assert(put(0, 1) == LADE_OK);
    got = 0;
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 2) == LADE_OK);
        assert(put(0, 4) == LADE_OK);
    } else {
        uint64_t first = draw(1);
        assert(first != 0);
        got = first + draw(1);
    }
}

static void finish(void)
{
    static uint64_t sum;

    sum = got;
    if (sum > 1)
        cover(two);
    for (uint64_t left = draw(THREADS); left; left = draw(THREADS))
        sum += left;
    assert(sum == 7);
    lade_bag_destroy(bag);
}

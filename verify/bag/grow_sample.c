/* harness
 * property: a sample finds an element while more slots become active, and never one that was not put
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups, the first in use; put against two samples
 * executions: 3
 * cover: new
 */
#define THREADS 2
#define TRIES 1
#define below(n) ((n) - 1)
#include "harness.h"

#include "small.h"

static struct lade_loan loan;

static void setup(void)
{
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 2) == LADE_OK);
        return;
    }
    for (int i = 0; i < 2; i++) {
        assert(lade_bag_sample(handle[1], &loan) == LADE_OK);
        assert(loan.word == 1 || loan.word == 2);
        if (loan.word == 2)
            cover(new);
        lade_bag_give_back(handle[1], &loan);
    }
}

static void finish(void)
{
    assert(draw(THREADS) + draw(THREADS) == 3);
    lade_bag_destroy(bag);
}

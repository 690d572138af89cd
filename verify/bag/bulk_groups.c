/* harness
 * property: a batch that fills several groups before it completes is visible in each: no draw after it returns EMPTY
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in two groups, in use before; put of two words against a draw
 * executions: 3
 * cover: drawn none
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static uint64_t batch[2];
static uint64_t got;

static void setup(void)
{
    make_bag(2);
    assert(put(0, 8) == LADE_OK && put(0, 9) == LADE_OK && draw(0) != 0 && draw(0) != 0);
    handle[0]->cursor = 0;
    batch[0] = 1;
    batch[1] = 2;
    got = 0;
}

static void thread(int id)
{
    if (id == 0)
        assert(lade_bag_put_many(handle[0], batch, 2) == 2);
    else
        got = draw(1);
}

static void finish(void)
{
    static uint64_t sum;

    if (got)
        cover(drawn);
    else
        cover(none);
    sum = got;
    for (uint64_t left = draw(THREADS); left; left = draw(THREADS))
        sum += left;
    assert(sum == 3);
    lade_bag_destroy(bag);
}

/* harness
 * property: an element is sampled at most max_times_sampled times, and the last sample removes it
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, limit 2; two samples against one
 * executions: 3
 * cover: second
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static struct lade_loan loan[THREADS];
static int sampled[THREADS];

static void setup(void)
{
    config.max_times_sampled = 2;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    sampled[0] = sampled[1] = 0;
}

static void thread(int id)
{
    for (int i = id; i < 2; i++)
        if (lade_bag_sample(handle[id], &loan[id]) == LADE_OK) {
            assert(loan[id].word == 1);
            sampled[id]++;
            lade_bag_give_back(handle[id], &loan[id]);
        }
    if (id == 1 && sampled[1])
        cover(second);
}

static void finish(void)
{
    assert(sampled[0] + sampled[1] == 2);
    assert(draw(THREADS) == 0);
    lade_bag_destroy(bag);
}

/* harness
 * property: what a thread wrote before a put is visible to every thread that draws, exchanges or samples the word
 * threads: 2
 * bound: 1 slot; put against sample and draw
 * executions: 3
 * cover: sampled drawn
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static uint64_t data[2];

static void setup(void)
{
    data[1] = 0;
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        data[1] = 7;
        assert(put(0, 1) == LADE_OK);
        return;
    }
    static struct lade_loan loan;
    if (lade_bag_sample(handle[1], &loan) == LADE_OK) {
        assert(data[loan.word] == 7);
        cover(sampled);
    }
    uint64_t word = draw(1);
    if (word) {
        assert(data[word] == 7);
        cover(drawn);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

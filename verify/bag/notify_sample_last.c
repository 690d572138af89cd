/* harness
 * property: the last sample that an element allows removes it, and wakes a put that waits for a free slot
 * threads: 2
 * bound: 1 slot, full, one sample for each element; sample against put_wait
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

#include "bag_wait.c"

static struct lade_loan loan;

static void setup(void)
{
    config.max_times_sampled = 1;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
    } else {
        in[1] = 2;
        (void)lade_bag_put_wait(handle[1], &in[1], TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

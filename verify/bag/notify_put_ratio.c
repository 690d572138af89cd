/* harness
 * property: put wakes a sample that is blocked by the ratio limit
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots, one sample allowed for each put; put against sample_wait
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
    config.samples_per_insert = 1;
    config.ratio_slack = 1;
    make_bag(2);
    assert(put(0, 1) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0)
        assert(put(0, 2) == LADE_OK);
    else
        (void)lade_bag_sample_wait(handle[1], &loan, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

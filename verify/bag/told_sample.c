/* harness
 * property: a sample that the ratio keeps waiting is told of the put that lets it go on
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, one sample allowed for each put; exchange against what a waiting sample does
 * executions: 3
 * cover: waits
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

/* What a waiting call does before it sleeps; it would sleep for ever if the number were the same in the end. */
static uint32_t number;
static int status;
static struct lade_loan loan;

static void setup(void)
{
    config.samples_per_insert = 1;
    config.ratio_slack = 1;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_LIMITED);
}

static void thread(int id)
{
    if (id == 0) {
        in[0] = 2;
        assert(lade_bag_exchange(handle[0], &in[0], &out[0]) == LADE_OK);
    } else {
        lade_event_expect(&bag->arrived);
        number = lade_event_number(&bag->arrived);
        status = lade_bag_sample(handle[1], &loan);
    }
}

static void finish(void)
{
    if (status == LADE_LIMITED) {
        assert(atomic_load(&bag->arrived.number) != number);
        cover(waits);
    }
    lade_bag_destroy(bag);
}

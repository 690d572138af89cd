/* harness
 * property: what a thread did before close happens before every return of CLOSED, where limits are checked first
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 slot, words with a ratio limit; close against put, sample, exchange and draw
 * executions: 10
 * cover: put sample exchange draw
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#include "small.h"

#include "bag_wait.c"

#include "close_carry.h"

static void setup(void)
{
    begin();
    config.samples_per_insert = 1;
    config.ratio_slack = 1;
    make_bag(1);
    /* One sample is ahead: the next one is limited. */
    add(handle[THREADS], SAMPLED, 1);
}

static void operate(int which)
{
    static struct lade_loan loan;

    in[1] = 5;
    switch (which) {
    case 0:
        if (lade_bag_put(handle[1], &in[1]) == LADE_CLOSED && is_carried())
            cover(put);
        break;
    case 1:
        if (lade_bag_sample(handle[1], &loan) == LADE_CLOSED && is_carried())
            cover(sample);
        break;
    case 2:
        if (lade_bag_exchange(handle[1], &in[1], &out[1]) == LADE_CLOSED && is_carried())
            cover(exchange);
        break;
    default:
        if (lade_bag_draw(handle[1], &out[1]) == LADE_CLOSED && is_carried())
            cover(draw);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

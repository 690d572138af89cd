/* harness
 * property: what a thread did before close happens before every return of CLOSED from draw, put, put_many and exchange
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 slot, words; close against one operation of each kind
 * executions: 10
 * cover: draw put put_many exchange
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
    make_bag(1);
}

static void operate(int which)
{
    in[1] = 5;
    switch (which) {
    case 0:
        if (lade_bag_draw(handle[1], &out[1]) == LADE_CLOSED && is_carried())
            cover(draw);
        break;
    case 1:
        if (lade_bag_put(handle[1], &in[1]) == LADE_CLOSED && is_carried())
            cover(put);
        break;
    case 2:
        if (lade_bag_put_many(handle[1], &in[1], 1) == 0 && is_carried())
            cover(put_many);
        break;
    default:
        if (lade_bag_exchange(handle[1], &in[1], &out[1]) == LADE_CLOSED && is_carried())
            cover(exchange);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

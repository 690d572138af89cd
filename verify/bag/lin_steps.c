/* harness
 * property: each successful put, draw and exchange is atomic: they are linearizable to a bounded multiset, whichever FULL and EMPTY are returned
 * engines: explore
 * threads: 3
 * bound: 2 slots in 2 groups, one element; put, exchange, draw; then a drain
 * executions: 20
 * cover: swapped drawn
 * timeout: 300
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#define CAPACITY 2
#define LIN_STEPS
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make_bag(CAPACITY);
    (void)lin_put(THREADS, 1);
}

static void thread(int id)
{
    if (id == 0)
        (void)lin_put(id, 2);
    else if (id == 1 && lin_exchange(id, 3))
        cover(swapped);
    else if (id == 2 && lin_draw(id))
        cover(drawn);
}

static void finish(void)
{
    while (lin_draw(THREADS))
        continue;
    lade_bag_destroy(bag);
}

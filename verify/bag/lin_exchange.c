/* harness
 * property: exchange is atomic: with one slot, put, draw and exchange are linearizable to a bounded multiset, including EMPTY
 * engines: explore
 * threads: 2
 * bound: 1 slot; put and draw against exchange and draw
 * executions: 20
 * cover: swapped empty
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define CAPACITY 1
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make_bag(CAPACITY);
}

static void thread(int id)
{
    if (id == 0) {
        (void)lin_put(id, 1);
    } else {
        if (lin_exchange(id, 2))
            cover(swapped);
        else
            cover(empty);
    }
    (void)lin_draw(id);
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

/* harness
 * property: put and draw on a bag with one slot are linearizable to a bounded multiset, including FULL and EMPTY (with more slots and threads the two can contradict each other)
 * engines: explore
 * threads: 2
 * bound: 1 slot; two puts and a draw against draw and put
 * executions: 20
 * cover: full empty
 * timeout: 600
 * tier: full
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define CAPACITY 1
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make_bag(CAPACITY);
}

static void do_put(int id, uint64_t word)
{
    if (!lin_put(id, word))
        cover(full);
}

static void do_draw(int id)
{
    if (!lin_draw(id))
        cover(empty);
}

static void thread(int id)
{
    if (id == 0) {
        do_put(id, 1);
        do_put(id, 2);
        do_draw(id);
    } else {
        do_draw(id);
        do_put(id, 3);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

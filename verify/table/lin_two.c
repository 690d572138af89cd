/* harness
 * property: operations of two threads on two keys that collide are linearizable to a map
 * engines: explore
 * threads: 2
 * bound: 2 cells; four operations each on two keys with one home
 * executions: 751
 * cover: late
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make(LADE_TABLE_WORDS, 2);
}

static void work(int id)
{
    if (id == 0) {
        lin_insert(0, 1, 11);
        lin_insert(0, 2, 12);
        lin_remove(0, 1);
        lin_get(0, 2);
    } else {
        if (lin_get(1, 2) == 12)
            cover(late);
        lin_insert(1, 2, 13);
        lin_insert(1, 1, 14);
        lin_replace(1, 2, 15);
    }
}

static void finish(void)
{
    unmake();
}

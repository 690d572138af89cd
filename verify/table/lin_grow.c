/* harness
 * property: operations of two threads on one key while the table grows are linearizable to a map
 * engines: explore
 * threads: 3
 * bound: 1 to 2 cells; insert and remove, replace and get, growth
 * executions: 2955
 * cover: found
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    if (id == 0) {
        lin_insert(0, 1, 11);
        lin_remove(0, 1);
    } else if (id == 1) {
        if (lin_get(1, 1) != NONE)
            cover(found);
    } else {
        grow(2);
        help();
    }
}

static void finish(void)
{
    unmake();
}

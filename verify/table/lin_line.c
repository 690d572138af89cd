/* harness
 * property: operations on two keys in one line of several cells are linearizable to a map
 * engines: explore
 * threads: 3
 * bound: 2 cells of one line; two inserts, an insert and a removal, two gets of keys with one home
 * executions: 685
 * cover: second
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#define LADE_TABLE_LINE 2
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
    } else if (id == 1) {
        lin_insert(1, 2, 13);
        lin_remove(1, 2);
    } else {
        if (lin_get(2, 2) != NONE && lin_get(2, 1) != NONE)
            cover(second);
    }
}

static void finish(void)
{
    unmake();
}

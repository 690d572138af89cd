/* harness
 * property: operations of three threads on one key are linearizable to a map
 * engines: explore
 * threads: 3
 * bound: 1 cell; insert and remove, insert and replace, two gets
 * executions: 1024
 * cover: lost removed
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
        if (lin_insert(1, 1, 12) != 12)
            cover(lost);
        if (lin_replace(1, 1, 13) == NONE)
            cover(removed);
    } else {
        lin_get(2, 1);
        lin_get(2, 1);
    }
}

static void finish(void)
{
    unmake();
}

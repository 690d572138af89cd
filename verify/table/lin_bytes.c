/* harness
 * property: operations of two threads on two byte strings with the same hash are linearizable to a map
 * engines: explore
 * threads: 2
 * bound: 2 cells; three operations each
 * executions: 1247
 * cover: late
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define LIN_BYTES
#include "harness.h"

#include "small.h"

#include "lin.h"

static void setup(void)
{
    lin_setup();
    make(LADE_TABLE_BYTES, 2);
}

static void work(int id)
{
    if (id == 0) {
        lin_insert(0, 1, 11);
        lin_remove(0, 1);
        lin_insert(0, 2, 12);
    } else {
        if (lin_insert(1, 2, 13) == 12)
            cover(late);
        lin_insert(1, 1, 14);
        lin_replace(1, 2, 15);
    }
}

static void finish(void)
{
    unmake();
}

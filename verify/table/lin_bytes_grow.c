/* harness
 * property: operations on a byte string while the table grows are linearizable to a map
 * engines: explore
 * threads: 2
 * bound: 1 to 2 cells; a replace and a remove against growth and a get
 * executions: 632
 * cover: gone
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
    make(LADE_TABLE_BYTES, 1);
    lin_insert(-1, 1, 11);
}

static void work(int id)
{
    if (id == 0) {
        lin_replace(0, 1, 12);
        lin_remove(0, 1);
    } else {
        grow(2);
        if (lin_get(1, 1) == NONE)
            cover(gone);
        help();
        lin_get(1, 1);
    }
}

static void finish(void)
{
    unmake();
}

/* harness
 * property: a table that grows automatically during concurrent inserts holds every key once
 * threads: 2
 * bound: 2 cells and on; two inserts each, of two keys and of one
 * executions: 217
 * cover: grown
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define NATURAL
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    root_of(table)->limit = 1;
}

static void work(int id)
{
    assert(insert_(id, 1 + (uint64_t)id, 10) == 10);
}

static void finish(void)
{
    complete();
    if (root_of(table)->cells > 2)
        cover(grown);
    assert(cells_of(1) == 1 && cells_of(2) == 1);
    unmake();
}

/* harness
 * property: the home of a key lies in the array
 * engines: cbmc
 * threads: 1
 * bound: any mixed key, up to 255 cells, and 2^8 to 2^40 by powers of two
 * timeout: 120
 * cover: middle
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "table.h"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static void thread(int id)
{
    struct array a;
    uint64_t h = nondet_uint64();

    (void)id;
    a.cells = nondet_uint64();
    assume(a.cells >= 1 && (a.cells < 256 || (a.cells <= LADE_TABLE_MAX && (a.cells & (a.cells - 1)) == 0)));
    assert(home_of(&a, h) < a.cells);
    if (home_of(&a, h) > 1)
        cover(middle);
}

static void finish(void)
{
}

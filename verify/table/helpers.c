/* harness
 * property: two threads that move the same table lose nothing, double nothing, and a third finds every key all the time
 * threads: 3
 * bound: 2 to 3 cells; two keys; one grows, two move, one reads
 * executions: 10
 * cover: swung
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 5);
    insert_(-1, HALF, 6);
    grow(3);
}

static void work(int id)
{
    if (id < 2) {
        complete();
    } else {
        if (root_of(table)->cells == 3)
            cover(swung);
        assert(get_(2, 1) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5 && get_(-1, HALF) == 6);
    assert(cells_of(1) == 1 && cells_of(HALF) == 1);
    unmake();
}

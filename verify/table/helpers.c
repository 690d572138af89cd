/* harness
 * property: two threads that move the same table lose and duplicate nothing, and a third finds every key at any time
 * threads: 3
 * bound: 1 to 2 cells; one key; two move, one reads
 * executions: 490
 * cover: swung
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
    grow(2);
}

static void work(int id)
{
    if (id < 2) {
        complete();
    } else {
        if (root_of(table)->cells == 2)
            cover(swung);
        assert(get_(2, 1) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5);
    assert(cells_of(1) == 1);
    unmake();
}

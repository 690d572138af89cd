/* harness
 * property: a thread that starts at the new array finds all blocks, whichever threads moved them
 * threads: 3
 * bound: 2 to 3 cells; two keys; two threads help with a block each, one reads
 * executions: 132
 * cover: swung
 * cover genmc: none
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
        urcu_memb_read_lock();
        lade_table_help(table, root_of(table));
        urcu_memb_read_unlock();
    } else {
        if (root_of(table)->cells == 3)
            cover(swung);
        assert(get_(2, 1) == 5);
        assert(get_(2, HALF) == 6);
    }
}

static void finish(void)
{
    assert(root_of(table)->cells == 3);
    assert(cells_of(1) == 1 && cells_of(HALF) == 1);
    unmake();
}

/* harness
 * property: two byte strings with one hash keep apart while the table grows
 * threads: 3
 * bound: 2 to 3 cells; an insert of each, growth and moves
 * executions: 4
 * cover: moved
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 300
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_BYTES, 2);
    atomic_store_explicit(&root_of(table)->cell[0].key, 'a', memory_order_relaxed); /* claimed, and not yet used */
    grow(3);
}

static void work(int id)
{
    if (id == 0) {
        assert(insert_text(0, "a", 1, 5) == 5);
    } else if (id == 1) {
        assert(insert_text(1, "ab", 2, 6) == 6);
    } else {
        urcu_memb_read_lock();
        if (next_of(root_of(table)))
            lade_table_help(table, root_of(table));
        urcu_memb_read_unlock();
    }
}

static void finish(void)
{
    complete();
    if (root_of(table)->cells == 3)
        cover(moved);
    assert(get_text(-1, "a", 1) == 5 && get_text(-1, "ab", 2) == 6 && cells_of('a') == 2);
    unmake();
}

/* harness
 * property: a second array that needs a third first becomes the root: no key is lost, and no old value reappears
 * threads: 2
 * bound: 1, 2, 3 cells; two growths against a replace and a get
 * executions: 2218
 * cover: third
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        urcu_memb_read_lock();
        struct array *a = root_of(table);
        assert(lade_table_grow(table, a, 2, false));
        assert(lade_table_grow(table, next_of(a), 3, false));
        assert(root_of(table) != a);
        assert(lade_table_complete(table));
        urcu_memb_read_unlock();
    } else {
        assert(replace_(1, 1, 6) == 5);
        assert(get_(1, 1) == 6);
    }
}

static void finish(void)
{
    if (root_of(table)->cells == 3)
        cover(third);
    assert(get_(-1, 1) == 6 && cells_of(1) == 1);
    unmake();
}

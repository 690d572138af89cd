/* harness
 * property: a cell with a key and no value, as a stopped thread leaves it, is completed by any thread that needs it, and moved
 * threads: 3
 * bound: 1 to 2 cells; a key without a value; insert, get and replace, growth
 * executions: 2753
 * cover: mine
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static uint64_t got;

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    atomic_store_explicit(&root_of(table)->cell[0].key, 1, memory_order_relaxed);
}

static void work(int id)
{
    if (id == 0) {
        grow(2);
        complete();
    } else if (id == 1) {
        got = insert_(1, 1, 5);
    } else {
        uint64_t seen = get_(2, 1);
        uint64_t old = replace_(2, 1, 6);
        if (seen == 5)
            cover(mine);
        assert(old == 5 || (old == NONE && seen == NONE));
    }
}

static void finish(void)
{
    assert(got == 5 && cells_of(1) == 1);
    assert(get_(-1, 1) == 5 || get_(-1, 1) == 6);
    unmake();
}

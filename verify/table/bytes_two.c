/* harness
 * property: two byte strings with the same hash stay distinct, even when both probe the same cell
 * threads: 3
 * bound: 2 cells; an insert of each, a reader
 * executions: 195
 * executions explore: 180
 * cover: first second
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
    make(LADE_TABLE_BYTES, 2);
}

static void work(int id)
{
    if (id == 0) {
        assert(insert_text(0, "a", 1, 5) == 5);
    } else if (id == 1) {
        assert(insert_text(1, "ab", 2, 6) == 6);
    } else {
        uint64_t value = get_text(2, "a", 1);
        assert(value == 5 || value == NONE);
        value = get_text(2, "ab", 2);
        assert(value == 6 || value == NONE);
    }
}

static void finish(void)
{
    if (record_of(atomic_load_explicit(&root_of(table)->cell[0].val, memory_order_relaxed))->size == 1)
        cover(first);
    else
        cover(second);
    assert(get_text(-1, "a", 1) == 5 && get_text(-1, "ab", 2) == 6 && cells_of('a') == 2);
    unmake();
}

/* harness
 * property: two byte strings with the same hash stay distinct while the table grows
 * threads: 2
 * bound: 2 to 3 cells; an insert against an insert, growth and moves
 * executions: 1643
 * executions explore: 454
 * cover: moved
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 300
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define ARRAYS
#include "harness.h"

#include "small.h"

static void setup(void)
{
    atomic_init(&arrays_left, 4); /* two more than it needs, so that a faulty search ends */
    make(LADE_TABLE_BYTES, 2);
}

static void work(int id)
{
    if (id == 0) {
        assert(insert_text(0, "a", 1, 5) == 5);
    } else {
        assert(insert_text(1, "ab", 2, 6) == 6);
        grow(3);
        complete();
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

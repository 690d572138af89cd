/* harness
 * property: a late copy finds a newer record, sees it complete, and leaves it in place
 * threads: 2
 * bound: 1 to 2 cells; a replace, which also moves, against moves
 * executions: 109
 * executions explore: 34
 * cover: moved
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_BYTES, 1);
    insert_text(-1, "a", 1, 5);
    grow(2);
}

static void work(int id)
{
    if (id == 0)
        assert(replace_text(0, "a", 1, 6) == 5);
    else
        complete();
}

static void finish(void)
{
    if (root_of(table)->cells == 2)
        cover(moved);
    assert(get_text(-1, "a", 1) == 6 && cells_of('a') == 1);
    unmake();
}

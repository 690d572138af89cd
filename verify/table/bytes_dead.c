/* harness
 * property: a slow copy does not resurrect a byte string that was removed while the table grows
 * threads: 3
 * bound: 1 to 2 cells; growth and moves by two threads; a remove
 * executions: 1383
 * cover: moved
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
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
    if (id == 2) {
        assert(remove_text(2, "a", 1) == 5);
    } else if (id == 0) {
        complete();
    } else {
        help();
    }
}

static void finish(void)
{
    if (root_of(table)->cells == 2)
        cover(moved);
    assert(get_text(-1, "a", 1) == NONE && cells_of('a') == 0);
    unmake();
}

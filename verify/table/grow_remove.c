/* harness
 * property: a key removed while two threads move the table is not resurrected by the slower one
 * threads: 3
 * bound: 1 to 2 cells; moves by two threads and more, one remove
 * executions: 1383
 * cover: removed
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
    insert_(-1, 1, 7);
    grow(2);
}

static void work(int id)
{
    if (id == 2) {
        assert(remove_(2, 1) == 7);
    } else if (id == 0) {
        complete();
    } else {
        help();
    }
}

static void finish(void)
{
    if (root_of(table)->cells == 2)
        cover(removed);
    assert(get_(-1, 1) == NONE && cells_of(1) == 0);
    unmake();
}

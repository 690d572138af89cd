/* harness
 * property: a key removed while another thread moves the table is not resurrected by that thread
 * threads: 2
 * bound: 1 to 2 cells; moves, one remove
 * executions: 186
 * executions explore: 57
 * cover: removed
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
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 7);
    grow(2);
}

static void work(int id)
{
    if (id == 0) {
        complete();
    } else {
        assert(remove_(1, 1) == 7);
        assert(get_(1, 1) == NONE);
    }
}

static void finish(void)
{
    if (root_of(table)->cells == 2)
        cover(removed);
    assert(get_(-1, 1) == NONE && cells_of(1) == 0);
    unmake();
}

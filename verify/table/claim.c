/* harness
 * property: a thread that finds a cell that an insert marked MOVED also finds the next array
 * threads: 3
 * bound: 1 to 1 cell; growth and a move, an insert, a replace
 * executions: 1131
 * executions explore: 880
 * cover: there
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
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    if (id == 0) {
        grow(1);
        help(); /* is moving the block when the insert reaches its cell */
    } else if (id == 1) {
        assert(insert_(1, 1, 5) == 5);
    } else if (replace_(2, 1, 6) == 5) {
        cover(there);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) != NONE);
    complete();
    assert(cells_of(1) == 1);
    unmake();
}

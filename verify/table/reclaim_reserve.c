/* harness
 * property: an old array is freed after the last reserve has left it, and no reserve reads it after that
 * threads: 2
 * bound: 1 to 3 cells; a growth in progress, moves and reclamation; a reserve
 * executions: 5
 * cover: freed
 * cover genmc: none
 * engines: explore genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define RECLAIM
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
    grow(3);
}

static void work(int id)
{
    if (id == 0) {
        complete();
        reclaim();
        cover(freed);
    } else {
        assert(lade_table_reserve(table, 0) == LADE_OK); /* three cells */
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5);
    unmake();
}

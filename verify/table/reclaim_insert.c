/* harness
 * property: an old array is freed after the last insert has left it, and no insert reads it after that
 * threads: 2
 * bound: 1 to 2 cells; growth, moves and reclamation; an insert of a key that is there
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
}

static void work(int id)
{
    if (id == 0) {
        grow(2);
        complete();
        reclaim();
        cover(freed);
    } else {
        assert(insert_(1, 1, 6) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5);
    unmake();
}

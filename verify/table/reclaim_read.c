/* harness
 * property: an old array is freed once, after the last reader has left it, and never read after that
 * threads: 2
 * bound: 1 to 2 cells; growth, moves and reclamation; a reader
 * executions: 5
 * cover: freed
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 100
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
        assert(get_(1, 1) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5);
    unmake();
}

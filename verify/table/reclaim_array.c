/* harness
 * property: an old array is freed once, after the last reader has left it, and never read after that
 * threads: 3
 * bound: 1 to 2 cells; growth, moves and reclamation; a reader; a replace
 * executions: 1225
 * cover: freed
 * engines: explore native tsan
 * rounds: 100
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
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
    } else if (id == 1) {
        assert(get_(1, 1) != NONE);
    } else {
        assert(replace_(2, 1, 6) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 6);
    unmake();
}

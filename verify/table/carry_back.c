/* harness
 * property: what was done before a value was stored happens before the return of the insert that lost to it, of its replace and of its remove
 * threads: 2
 * bound: 1 cell; insert and insert, or replace; remove
 * executions: 44
 * cover: lost replaced removed
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static int before[2];

static void setup(void)
{
    before[0] = before[1] = 0;
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    uint64_t mine = 10 + (uint64_t)id;

    before[id] = 1;
    if (insert_(id, 1, mine) != mine) {
        cover(lost);
        assert(before[!id] == 1);
        if (id == 0) {
            uint64_t old = replace_(id, 1, 20);
            if (old == 11)
                cover(replaced);
            assert(old == 11 || old == NONE);
        }
    } else if (id == 1 && remove_(id, 1) == 20) {
        cover(removed);
        assert(before[0] == 1);
    }
}

static void finish(void)
{
    unmake();
}

/* harness
 * property: what was done before a value was stored happens before a get returns it: by insert, by replace, and through a move
 * threads: 3
 * bound: 1 to 2 cells; an insert, a get, growth and moves
 * executions: 345
 * cover: got
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static int before;

static void setup(void)
{
    before = 0;
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    if (id == 0) {
        before = 1;
        insert_(0, 1, 5);
    } else if (id == 1) {
        grow(2);
        complete();
    } else if (get_(2, 1) == 5) {
        cover(got);
        assert(before == 1);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5);
    unmake();
}

/* harness
 * property: a record that is replaced in the new array while the old array waits to be freed is not freed with it
 * threads: 3
 * bound: 2 cells to 1; a replace, which also moves; a reader; reclamation twice
 * executions: 23
 * cover: old
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
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
    make(LADE_TABLE_BYTES, 2);
    insert_text(-1, "a", 1, 5);
    grow(1);
    help(); /* its block is moved, the other is not */
}

static void work(int id)
{
    if (id == 0) {
        assert(replace_text(0, "a", 1, 6) == 5);
    } else if (id == 1) {
        uint64_t value = get_text(1, "a", 1);
        assert(value == 5 || value == 6);
        if (value == 5)
            cover(old);
    } else {
        reclaim();
        reclaim();
    }
}

static void finish(void)
{
    assert(get_text(-1, "a", 1) == 6 && cells_of('a') == 1);
    unmake();
}

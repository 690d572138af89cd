/* harness
 * property: a record replaced in the new array is not freed while new readers can reach it through the old array
 * threads: 3
 * bound: 3 cells to 1, two of them moved; a replace, which also moves; a reader; reclamation twice
 * executions: 2
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
    make(LADE_TABLE_BYTES, 3);
    insert_text(-1, "a", 1, 5);
    grow(1);
    help(); /* its block is moved; the replace moves another one, and one is left */
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
    complete();
    assert(get_text(-1, "a", 1) == 6 && cells_of('a') == 1);
    unmake();
}

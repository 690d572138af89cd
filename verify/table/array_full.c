/* harness
 * property: a copy that finds the second array full continues in a third: no key is lost or duplicated
 * threads: 2
 * bound: 2 cells to 1 and on; two keys; moves against two gets
 * executions: 194
 * cover: second later
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
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 5);
    insert_(-1, 2, 6);
    grow(1);
}

static void work(int id)
{
    if (id == 0) {
        complete();
    } else {
        uint64_t value = get_(1, 2);
        assert(value == 6 && get_(1, 1) == 5);
        if (root_of(table)->cells == 1)
            cover(second);
        if (root_of(table)->cells > 1)
            cover(later);
    }
}

static void finish(void)
{
    complete();
    assert(get_(-1, 1) == 5 && get_(-1, 2) == 6);
    assert(cells_of(1) == 1 && cells_of(2) == 1);
    unmake();
}

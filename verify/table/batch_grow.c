/* harness
 * property: a batch of look-ups returns for each key what a call for that key alone would return, even while the table grows
 * threads: 2
 * bound: 1 to 2 cells; a replace and a batch of two keys, growth and all moves
 * executions: 659
 * executions explore: 191
 * cover: moved between
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static const uint64_t key[2] = {1, UINT64_C(3) << 62};
static uint64_t value[2];
static int status[2];

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    assert(insert_(-1, key[0], 11) == 11);
}

static void work(int id)
{
    size_t good = 0;

    if (id == 0) {
        grow(2);
        complete();
        return;
    }
    assert(replace_(1, key[0], 13) == 11);
    if (next_of(root_of(table)))
        cover(between);
    good = lade_table_get_many(table, key, 2, value, status);
    assert(good == 1 && status[0] == LADE_OK && value[0] == 13); /* what this thread itself wrote */
    assert(status[1] == LADE_ABSENT);
    if (root_of(table)->cells == 2)
        cover(moved);
}

static void finish(void)
{
    assert(get_(-1, key[0]) == 13 && get_(-1, key[1]) == NONE);
    assert(cells_of(key[0]) == 1);
    unmake();
}

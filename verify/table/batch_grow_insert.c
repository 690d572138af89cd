/* harness
 * property: a batch of inserts returns for each key what a call for that key alone would return, even while the table grows
 * threads: 2
 * bound: 1 to 2 cells; a batch of two keys, growth and all moves
 * executions: 470
 * executions explore: 140
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
static uint64_t winner[2];
static int status[2];

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
    assert(insert_(-1, key[0], 11) == 11);
}

static void work(int id)
{
    static const uint64_t mine[2] = {21, 22};
    size_t good = 0;

    if (id == 0) {
        grow(2);
        complete();
        return;
    }
    if (root_of(table)->cells == 2)
        cover(moved);
    else if (next_of(root_of(table)))
        cover(between);
    good = lade_table_insert_many(table, key, 2, mine, winner, status);
    assert(status[0] == LADE_PRESENT && winner[0] == 11);
    assert(good == 1 && status[1] == LADE_OK && winner[1] == 22);
}

static void finish(void)
{
    assert(get_(-1, key[0]) == 11 && get_(-1, key[1]) == 22);
    assert(cells_of(key[0]) == 1 && cells_of(key[1]) == 1);
    unmake();
}

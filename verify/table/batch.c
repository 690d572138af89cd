/* harness
 * property: a batch returns for each key what a call for that key alone would return
 * threads: 2
 * bound: 2 cells; batches of two keys, an insert and a removal of one of them
 * executions: 31
 * executions explore: 25
 * cover: first second removed
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static const uint64_t key[2] = {1, 2};
static uint64_t value[2], winner[2], got;
static int status[2];

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    assert(insert_(-1, key[0], 11) == 11);
}

static void work(int id)
{
    static const uint64_t mine[2] = {21, 22};
    size_t good = 0;

    if (id == 0) {
        got = insert_(0, key[1], 12);
        assert(remove_(0, key[0]) == 11);
        return;
    }
    good = lade_table_insert_many(table, key, 2, mine, winner, status);
    if (status[0] == LADE_OK)
        cover(removed);
    assert(winner[0] == (status[0] == LADE_OK ? 21 : 11) && winner[1] == (status[1] == LADE_OK ? 22 : 12));
    assert(good == (size_t)(status[0] == LADE_OK) + (status[1] == LADE_OK));
    good = lade_table_get_many(table, key, 2, value, status);
    assert(status[1] == LADE_OK && value[1] == winner[1]);
    assert(status[0] == LADE_ABSENT || value[0] == winner[0]);
    assert(good == 1 + (size_t)(status[0] == LADE_OK));
}

static void finish(void)
{
    assert(got == winner[1] && get_(-1, key[1]) == got);
    assert(get_(-1, key[0]) == (winner[0] == 21 ? 21 : NONE));
    if (got == 12)
        cover(first);
    else
        cover(second);
    unmake();
}

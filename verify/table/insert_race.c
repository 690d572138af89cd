/* harness
 * property: of racing inserts of one key one wins, and all return the winner's value
 * threads: 3
 * bound: 2 cells; three inserts of one key, another key in its home
 * executions: 135
 * cover: first last
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 7);
}

static void work(int id)
{
    got[id] = insert_(id, 2, 10 + (uint64_t)id);
}

static void finish(void)
{
    uint64_t value = get_(-1, 2);

    if (value == 10)
        cover(first);
    if (value == 12)
        cover(last);
    assert(value >= 10 && value <= 12);
    for (int i = 0; i < THREADS; i++)
        assert(got[i] == value);
    assert(get_(-1, 1) == 7 && cells_of(2) == 1);
    unmake();
}

/* harness
 * property: a key inserted while the table grows is present afterwards, once, with the winner's value, and so is every other key
 * threads: 3
 * bound: 1 to 2 cells; two inserts of one key, growth and all moves
 * executions: 32821
 * cover: old new
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    if (id == 0) {
        grow(2);
        complete();
    } else {
        got[id] = insert_(id, 1, 10 + (uint64_t)id);
    }
}

static void finish(void)
{
    uint64_t value = get_(-1, 1);

    if (value == 11)
        cover(old);
    if (value == 12)
        cover(new);
    assert(value == got[1] && value == got[2]);
    assert(cells_of(1) == 1);
    unmake();
}

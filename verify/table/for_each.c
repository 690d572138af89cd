/* harness
 * property: for_each holds its array by a count: it is not freed meanwhile; a key that stays is visited once, one that comes at most once
 * threads: 2
 * bound: 2 to 3 cells; for_each against an insert, growth, moves and reclamation
 * executions: 10
 * cover: seen unseen
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 300
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static int visits[3];

static bool visit(void *context, const struct lade_table_entry *entry)
{
    (void)context;
    assert(entry->value == entry->key + 4);
    visits[entry->key]++;
    return true;
}

static void setup(void)
{
    visits[1] = visits[2] = 0;
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        insert_(0, 2, 6);
        grow(3);
        complete();
        reclaim();
    } else {
        assert(lade_table_for_each(table, visit, NULL) == LADE_OK);
    }
}

static void finish(void)
{
    assert(visits[1] == 1 && visits[2] <= 1);
    if (visits[2])
        cover(seen);
    else
        cover(unseen);
    unmake();
}

/* harness
 * property: for_each holds a reference to its array, which is not freed in the meantime, and visits a key that stays exactly once
 * threads: 2
 * bound: 1 to 1 cell; for_each against growth, moves and reclamation
 * executions: 309
 * executions explore: 120
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 100
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define RECLAIM
#include "harness.h"

#include "small.h"

static int visits[2];

static bool visit(void *context, const struct lade_table_entry *entry)
{
    (void)context;
    assert(entry->value == entry->key + 4);
    visits[entry->key]++;
    return true;
}

static void setup(void)
{
    visits[1] = 0;
    make(LADE_TABLE_WORDS, 1);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        grow(1);
        complete();
        reclaim();
    } else {
        assert(lade_table_for_each(table, visit, NULL, NULL) == LADE_OK);
    }
}

static void finish(void)
{
    assert(visits[1] == 1);
    unmake();
}

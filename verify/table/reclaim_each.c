/* harness
 * property: for_each of words reads no freed array, even when the table grows twice in the meantime
 * threads: 2
 * bound: 1 cell, three arrays; for_each against two growths, moves and reclamation
 * executions: 20
 * engines: explore
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
        for (int i = 0; i < 2; i++) {
            grow(1);
            complete();
        }
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

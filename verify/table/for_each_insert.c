/* harness
 * property: for_each visits a key that stays exactly once, and a key that is inserted or removed at most once, with a value that it had
 * threads: 2
 * bound: 3 cells; for_each against an insert, a replace and a remove
 * executions: 4
 * cover: seen unseen gone newer
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static int visits[4];

static bool visit(void *context, const struct lade_table_entry *entry)
{
    (void)context;
    assert(entry->value == entry->key + 4 || (entry->key == 1 && entry->value == 9));
    if (entry->value == 9)
        cover(newer);
    visits[entry->key]++;
    return true;
}

static void setup(void)
{
    visits[1] = visits[2] = visits[3] = 0;
    make(LADE_TABLE_WORDS, 3);
    insert_(-1, 1, 5);
    insert_(-1, 2, 6);
}

static void work(int id)
{
    if (id == 0) {
        insert_(0, 3, 7);
        assert(replace_(0, 1, 9) == 5);
        assert(remove_(0, 2) == 6);
    } else {
        assert(lade_table_for_each(table, visit, NULL, NULL) == LADE_OK);
    }
}

static void finish(void)
{
    assert(visits[1] == 1 && visits[2] <= 1 && visits[3] <= 1);
    if (visits[3])
        cover(seen);
    else
        cover(unseen);
    if (!visits[2])
        cover(gone);
    unmake();
}

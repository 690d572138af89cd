/* harness
 * property: for_each of byte strings reads no freed record
 * threads: 2
 * bound: 1 cell; for_each against a replace and reclamation
 * executions: 2
 * cover: freed
 * cover genmc: none
 * engines: explore genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define RECLAIM
#include "harness.h"

#include "small.h"

static int visits;

static bool visit(void *context, const struct lade_table_entry *entry)
{
    (void)context;
    assert(entry->size == 1 && *(const unsigned char *)entry->bytes == 'a');
    assert(entry->value == 5 || entry->value == 6);
    visits++;
    return true;
}

static void setup(void)
{
    visits = 0;
    make(LADE_TABLE_BYTES, 1);
    insert_text(-1, "a", 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        assert(replace_text(0, "a", 1, 6) == 5);
        reclaim();
        cover(freed);
    } else {
        assert(lade_table_for_each(table, visit, NULL, NULL) == LADE_OK);
    }
}

static void finish(void)
{
    assert(visits == 1);
    unmake();
}

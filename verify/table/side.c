/* harness
 * property: keys that equal reserved codes have separate cells: the first insert wins, and values publish what was done before
 * threads: 2
 * bound: both keys; insert, get and for_each
 * executions: 12
 * cover: got visited lost
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define INJECTED
#include "harness.h"

#include "small.h"

static int before[2];
static int visited;

static bool visit(void *context, const struct lade_table_entry *entry)
{
    (void)context;
    if (entry->key == KEY_EMPTY)
        return entry->value == 5;
    assert(entry->key == MOVED && entry->value == 6);
    assert(before[1] == 1);
    cover(visited);
    visited++;
    return true;
}

static void setup(void)
{
    before[0] = before[1] = visited = 0;
    make(LADE_TABLE_WORDS, 1);
}

static void work(int id)
{
    if (id == 0) {
        before[0] = 1;
        insert_(0, KEY_EMPTY, 5);
        before[1] = 1;
        insert_(0, MOVED, 6);
    } else if (ROUND % 2 == 0 && get_(1, KEY_EMPTY) == 5) {
        cover(got);
        assert(before[0] == 1);
        assert(insert_(1, KEY_EMPTY, 8) == 5);
    } else {
        uint64_t value = insert_(1, KEY_EMPTY, 7);
        if (value == 5) {
            cover(lost);
            assert(before[0] == 1);
        }
        assert(remove_(1, KEY_EMPTY) != NONE);
        assert(lade_table_for_each(table, visit, NULL, NULL) == LADE_OK);
        assert(visited <= 1);
    }
}

static void finish(void)
{
    assert(get_(-1, MOVED) == 6);
    unmake();
}

/* harness
 * property: trim to an array that becomes too small meanwhile loses nothing
 * threads: 2
 * bound: 6 cells to fewer; trim against an insert and a remove
 * executions: 4
 * cover: smaller
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 300
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define NATURAL
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 6);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        int status = lade_table_trim(table);
        assert(status == LADE_OK || status == LADE_LIMITED);
    } else {
        assert(insert_(1, 2, 6) == 6);
        assert(remove_(1, 1) == 5);
    }
}

static void finish(void)
{
    if (root_of(table)->cells < 6)
        cover(smaller);
    complete();
    assert(get_(-1, 1) == NONE && get_(-1, 2) == 6 && cells_of(2) == 1);
    unmake();
}

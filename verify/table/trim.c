/* harness
 * property: trim drops removed keys, but not a key that is inserted again concurrently
 * threads: 2
 * bound: 5 cells to 3 or 4; trim against the insert of a removed key
 * executions: 36
 * cover: smaller
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 5);
    insert_(-1, 1, 5);
    remove_(-1, 1);
}

static void work(int id)
{
    if (id == 0) {
        int status = lade_table_trim(table);
        assert(status == LADE_OK || status == LADE_LIMITED);
    } else {
        assert(insert_(1, 1, 6) == 6);
    }
}

static void finish(void)
{
    if (root_of(table)->cells < 5)
        cover(smaller);
    complete();
    assert(get_(-1, 1) == 6 && cells_of(1) == 1);
    unmake();
}

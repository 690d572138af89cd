/* harness
 * property: of racing inserts of one byte string one wins, and all return its value
 * threads: 2
 * bound: 2 cells; two inserts of one string, one get
 * executions: 28
 * cover: got
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include "small.h"

static uint64_t got[THREADS];

static void setup(void)
{
    make(LADE_TABLE_BYTES, 2);
}

static void work(int id)
{
    if (get_text(id, "a", 1) != NONE)
        cover(got);
    got[id] = insert_text(id, "a", 1, 10 + (uint64_t)id);
}

static void finish(void)
{
    assert(got[0] == got[1] && get_text(-1, "a", 1) == got[0] && cells_of('a') == 1);
    unmake();
}

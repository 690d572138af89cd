/* harness
 * property: a record that was replaced, or removed and inserted again, is freed after its last reader, once
 * threads: 3
 * bound: 1 cell; replace, remove and insert; a reader; reclamation
 * executions: 36
 * cover: none
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * rounds: 100
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#define RECLAIM
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_BYTES, 1);
    insert_text(-1, "a", 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        assert(replace_text(0, "a", 1, 6) == 5);
        assert(remove_text(0, "a", 1) == 6);
        assert(insert_text(0, "a", 1, 7) == 7);
    } else if (id == 1) {
        uint64_t value = get_text(1, "a", 1);
        assert(value == 5 || value == 6 || value == 7 || value == NONE);
        if (value == NONE)
            cover(none);
    } else {
        reclaim();
    }
}

static void finish(void)
{
    assert(get_text(-1, "a", 1) == 7);
    unmake();
}

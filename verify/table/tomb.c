/* harness
 * property: the cell of a removed key stays reserved for it: the key returns there while another key probes for a cell
 * threads: 2
 * bound: 2 cells, one of a removed key; its insert against that of another key
 * executions: 1
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define INJECTED /* the fast path takes only a cell that was never used */
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 4);
    assert(remove_(-1, 1) == 4);
}

static void work(int id)
{
    uint64_t key = 1 + (uint64_t)id;

    assert(insert_(id, key, 10 + key) == 10 + key);
}

static void finish(void)
{
    assert(get_(-1, 1) == 11 && get_(-1, 2) == 12);
    assert(cells_of(1) == 1 && cells_of(2) == 1);
    unmake();
}

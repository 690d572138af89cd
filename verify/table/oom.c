/* harness
 * property: without memory for a larger array the table stays intact, and it grows when memory is available again
 * threads: 2
 * bound: 2 cells; a growth and a trim that get no memory, an insert and a remove
 * executions: 5
 * cover: refused
 * cover genmc: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define ARRAYS
#define NATURAL
#include "harness.h"

#include "small.h"

static void setup(void)
{
    atomic_init(&arrays_left, 2);
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 5);
}

static void work(int id)
{
    if (id == 0) {
        urcu_memb_read_lock();
        assert(!lade_table_grow(table, root_of(table), 4, false));
        urcu_memb_read_unlock();
        assert(remove_(0, 1) == 5);
    } else {
        int status = lade_table_insert(table, 2, 6, NULL);
        if (status == LADE_NO_MEMORY)
            cover(refused);
        assert(get_(1, 2) == (status == LADE_OK ? 6 : NONE));
    }
}

static void finish(void)
{
    atomic_store_explicit(&arrays_left, 9, memory_order_relaxed);
    assert(lade_table_insert(table, 2, 6, NULL) != LADE_NO_MEMORY);
    assert(get_(-1, 2) == 6 && get_(-1, 1) == NONE);
    unmake();
}

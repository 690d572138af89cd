/* harness
 * property: a move that gets no memory for a third array leaves every key reachable, and resumes later
 * threads: 2
 * bound: 2 cells to 1, and no more; two keys; moves against a replace
 * executions: 174
 * cover: stuck
 * engines: explore native tsan
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#define ARRAYS
#include "harness.h"

#include "small.h"

static void setup(void)
{
    atomic_init(&arrays_left, 3);
    make(LADE_TABLE_WORDS, 2);
    insert_(-1, 1, 5);
    insert_(-1, 2, 6);
    grow(1);
}

static void work(int id)
{
    if (id == 0) {
        urcu_memb_read_lock();
        assert(!lade_table_complete(table));
        urcu_memb_read_unlock();
        cover(stuck);
    } else {
        uint64_t old = NONE;
        int status = lade_table_replace(table, 2, 7, &old);
        assert((status == LADE_OK && old == 6) || status == LADE_NO_MEMORY);
        assert(get_(1, 2) == (status == LADE_OK ? 7 : 6));
        assert(get_(1, 1) == 5);
    }
}

static void finish(void)
{
    assert(get_(-1, 1) == 5 && get_(-1, 2) != NONE);
    atomic_store_explicit(&arrays_left, 9, memory_order_relaxed);
    complete();
    assert(cells_of(1) == 1 && cells_of(2) == 1);
    unmake();
}

/* harness
 * property: a thread that copies a byte string compares it with another one that was copied concurrently, and sees that one complete
 * threads: 3
 * bound: 2 to 3 cells; two byte strings with one hash; a replace of the first, its move, the move of the second
 * executions: 2656
 * executions explore: 398
 * cover: none
 * engines: explore native tsan genmc/rc11
 * flags genmc: --disable-spin-assume --disable-instruction-caching
 * timeout: 300
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#include "harness.h"

#include "small.h"

static void setup(void)
{
    make(LADE_TABLE_BYTES, 2);
    insert_text(-1, "ab", 2, 5);
    insert_text(-1, "ac", 2, 7);
    grow(3);
    atomic_init(&root_of(table)->turn, 2); /* threads 1 and 2 have taken their blocks */
}

static void work(int id)
{
    struct array *a = root_of(table);

    if (id == 0) {
        uint64_t was = replace_text(0, "ab", 2, 6);

        assert(was == 5);
        return;
    }
    urcu_memb_read_lock();
    assert(move_cell(table, a, &a->cell[id - 1]));
    urcu_memb_read_unlock();
}

static void finish(void)
{
    complete();
    assert(get_text(-1, "ab", 2) == 6 && get_text(-1, "ac", 2) == 7 && cells_of('a') == 2);
    unmake();
}

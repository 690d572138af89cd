/* harness
 * property: the thread that frees a cell is ordered after all reads of it, even if the cell was freed and reused in between
 * threads: 2
 * bound: one cell; removed, against a late borrower that frees it, reuses it, lends it and removes it again
 * executions: 3
 * cover: late
 * timeout: 120
 */
#define THREADS 2
#include "harness.h"

#include "records.h"

static uint32_t cell;
static uint64_t read_there;

static void setup(void)
{
    make_records(1);
    cell = handle[0]->spare;
    *(uint64_t *)(void *)cell_at(bag, cell) = 1;
    while (lade_mpmc_pop(handle[0]->pool, &out[0]) == LADE_OK)
        ; /* so that the pool can hold only this cell */
}

/* Removes the cell from the pool if it is there. */
static bool reclaimed(int id)
{
    return lade_mpmc_pop(handle[id]->pool, &out[id]) == LADE_OK;
}

static void thread(int id)
{
    uint64_t *data = (uint64_t *)(void *)cell_at(bag, cell);

    if (id == 0) {
        lade_bag_cell_unref(handle[0], cell, REMOVED);
        if (reclaimed(0))
            *data = 3;
        return;
    }
    atomic_fetch_add_explicit(&bag->cell_refs[cell], 1, memory_order_acquire); /* as [bag.borrow] */
    lade_bag_cell_unref(handle[1], cell, -1);
    if (!reclaimed(1))
        return;
    cover(late);
    *data = 2;
    lade_bag_cell_unref(handle[1], cell, REMOVED + 1);
    read_there = *data;
    lade_bag_cell_unref(handle[1], cell, -1);
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

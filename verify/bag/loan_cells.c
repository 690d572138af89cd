/* harness
 * property: the last borrower of a record, or the thread that removed it, frees its cell, exactly once
 * threads: 2
 * bound: 1 slot, the record lent twice; return against return and evict
 * executions: 3
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "records.h"

static struct lade_loan loan[2];

static void setup(void)
{
    make_records(1);
    assert(put_record(0, 1) == LADE_OK);
    for (int i = 0; i < 2; i++)
        assert(lade_bag_sample(handle[i], &loan[i]) == LADE_OK);
}

static void thread(int id)
{
    check_record(loan[id].record);
    if (id == 1)
        assert(lade_bag_evict(handle[1]) == LADE_OK);
    lade_bag_give_back(handle[id], &loan[id]);
}

static void finish(void)
{
    static uint64_t cell, cells, sum;

    /* Every free cell that neither the slot nor a handle owns is in the pool. */
    cells = sum = 0;
    while (lade_mpmc_pop(handle[0]->pool, &cell) == LADE_OK) {
        cells++;
        sum += cell;
    }
    assert(cells == 3 * 4 - 3);
    for (int i = 0; i <= THREADS; i++)
        sum += handle[i]->spare;
    sum += atomic_load(&bag->slot[0]) & CELL_BITS;
    assert(sum == 12 * 13 / 2);
    lade_bag_destroy(bag);
}

/* harness
 * property: a cell is overwritten only after every borrower of its record has read it
 * threads: 2
 * bound: 1 slot, the record lent once; read and return against evict and writing every free cell
 * executions: 2
 * cover: reused
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "records.h"

static struct lade_loan loan;

static void setup(void)
{
    make_records(1);
    assert(put_record(0, 1) == LADE_OK);
    assert(lade_bag_sample(handle[0], &loan) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        check_record(loan.record);
        lade_bag_give_back(handle[0], &loan);
    } else {
        assert(lade_bag_evict(handle[1]) == LADE_OK);
        for (uint64_t n = 0; lade_mpmc_pop(handle[1]->pool, &out[1]) == LADE_OK; n++) {
            *(uint64_t *)(void *)cell_at(bag, (uint32_t)out[1]) = 0;
            if (out[1] == loan.cell)
                cover(reused);
        }
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

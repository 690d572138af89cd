/* harness
 * property: an element whose slot has no sample count left can still be borrowed, and is not freed while on loan
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot with its count at the maximum; sample and return against draw and writing every free cell
 * executions: 3
 * cover: lent
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
    uint64_t word;

    make_records(1);
    assert(put_record(0, 1) == LADE_OK);
    /* As after 65,535 samples, all returned. */
    word = atomic_load(&bag->slot[0]);
    atomic_store(&bag->slot[0], word | TIMES_FULL << TIMES_SHIFT);
    atomic_store(&bag->cell_refs[word & CELL_BITS], -(int64_t)TIMES_FULL);
}

static void thread(int id)
{
    if (id == 0) {
        if (lade_bag_sample(handle[0], &loan) != LADE_OK)
            return;
        if (check_record(loan.record) == 1)
            cover(lent);
        lade_bag_give_back(handle[0], &loan);
    } else {
        assert(draw_record(1) == 1);
        /* Every free cell is written, this one too unless it is on loan. */
        while (lade_mpmc_pop(handle[1]->pool, &out[1]) == LADE_OK)
            *(uint64_t *)(void *)cell_at(bag, (uint32_t)out[1]) = 0;
    }
}

static void finish(void)
{
    static uint64_t cells, last;

    /* The cell was freed once: it is in the pool, or was. */
    for (cells = 0, last = 0; lade_mpmc_pop(handle[0]->pool, &out[0]) == LADE_OK; cells++) {
        assert(out[0] != last);
        last = out[0];
    }
    assert(cells <= 1);
    assert(draw_record(THREADS) == 0);
    lade_bag_destroy(bag);
}

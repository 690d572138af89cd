/* harness
 * property: an element whose slot can count no further samples can still be borrowed, and is not freed meanwhile
 * threads: 2
 * bound: 1 slot with its count at the end; sample and give back against draw and put
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
    /* As after 65,535 samples, all given back. */
    word = atomic_load(&bag->slot[0]);
    atomic_store(&bag->slot[0], word | TIMES_FULL << TIMES_SHIFT);
    atomic_store(&bag->loans[word & CELL_BITS], -(int64_t)TIMES_FULL);
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
        assert(put_record(1, 2) == LADE_OK);
    }
}

static void finish(void)
{
    assert(draw_record(THREADS) == 2);
    for (int i = 0; i <= THREADS; i++) {
        assert(put_record(i, 5) == LADE_OK);
        assert(draw_record(i) == 5);
    }
    lade_bag_destroy(bag);
}

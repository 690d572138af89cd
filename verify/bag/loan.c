/* harness
 * property: a record on loan is not overwritten before it is returned, even if it is drawn and its cell is reused in the meantime
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; sample and return against draw and put
 * executions: 4
 * cover: gone
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
}

static void thread(int id)
{
    if (id == 0) {
        if (lade_bag_sample(handle[0], &loan) != LADE_OK)
            return;
        if (check_record(loan.record) == 2)
            cover(gone);
        lade_bag_give_back(handle[0], &loan);
    } else {
        assert(draw_record(1) == 1);
        assert(put_record(1, 2) == LADE_OK);
    }
}

static void finish(void)
{
    static struct lade_bag_stats counts;

    assert(draw_record(THREADS) == 2);
    /* No cell is lost: each handle can put and draw. */
    for (int i = 0; i <= THREADS; i++) {
        assert(put_record(i, 5) == LADE_OK);
        assert(draw_record(i) == 5);
    }
    lade_bag_stats(bag, &counts);
    assert(counts.sampled == counts.given_back && counts.put == counts.drawn);
    lade_bag_destroy(bag);
}

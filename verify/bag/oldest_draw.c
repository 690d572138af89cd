/* harness
 * property: under evict-oldest, an element is drawn or evicted once, and no word in a cell is read while it is written
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full; put and put against sample and draw
 * executions: 3
 * cover: newer
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static _Atomic uint64_t dropped;
static uint64_t got;
static struct lade_loan loan;

static void dropping(void *context, uint64_t word)
{
    (void)context;
    atomic_fetch_add_explicit(&dropped, word, memory_order_relaxed);
}

static void setup(void)
{
    atomic_store(&dropped, 0);
    config.full = LADE_BAG_EVICT_OLDEST;
    config.drop = dropping;
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    got = 0;
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 2) == LADE_OK);
    } else {
        assert(lade_bag_sample(handle[1], &loan) == LADE_OK);
        assert(loan.word == 1 || loan.word == 2);
        got = draw(1);
        assert(got != 0);
        if (got == 2)
            cover(newer);
    }
}

static void finish(void)
{
    got += draw(THREADS);
    assert(got + atomic_load(&dropped) == 3);
    lade_bag_destroy(bag);
}

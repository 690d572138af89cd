/* harness
 * property: for_each visits an element that stays in the bag exactly once, and reads no record while it is written
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots in 2 groups, one record that stays; for_each against put, draw and put
 * executions: 3
 * cover: two
 * timeout: 120
 */
#define THREADS 2
#define TRIES 0
#define below(n) 0 /* of a pass: the last one seen */
#include "harness.h"

#include "records.h"

static uint64_t visits[4];

static bool visit(void *context, const void *element)
{
    (void)context;
    visits[check_record(element)]++;
    return true;
}

static void setup(void)
{
    make_records(2);
    assert(put_record(0, 1) == LADE_OK);
    for (int i = 0; i < 4; i++)
        visits[i] = 0;
}

static void thread(int id)
{
    if (id == 0) {
        assert(lade_bag_for_each(handle[0], visit, NULL, NULL) == LADE_OK);
        assert(visits[1] == 1 && visits[2] <= 1);
        if (visits[2])
            cover(two);
    } else {
        /* Put into the second slot and drawn from it. */
        assert(put_record(1, 2) == LADE_OK);
        assert(draw_record(1) == 2);
    }
}

static void finish(void)
{
    assert(draw_record(THREADS) == 1);
    lade_bag_destroy(bag);
}

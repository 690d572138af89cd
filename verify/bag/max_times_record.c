/* harness
 * property: a record that its last sample removed stays intact until that loan and all earlier ones are returned
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, limit 2; sample and return against sample, return and put
 * executions: 3
 * cover: last
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "records.h"

static struct lade_loan loan[THREADS];

static void setup(void)
{
    config.max_times_sampled = 2;
    make_records(1);
    assert(put_record(0, 1) == LADE_OK);
}

static void thread(int id)
{
    assert(lade_bag_sample(handle[id], &loan[id]) == LADE_OK);
    check_record(loan[id].record);
    if (id == 1 && loan[1].times == 2)
        cover(last);
    lade_bag_give_back(handle[id], &loan[id]);
    if (id == 1 && loan[1].times == 2)
        put_record(1, 2);
}

static void finish(void)
{
    (void)draw_record(THREADS);
    for (int i = 0; i <= THREADS; i++) {
        assert(put_record(i, 5) == LADE_OK);
        assert(draw_record(i) == 5);
    }
    lade_bag_destroy(bag);
}

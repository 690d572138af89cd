/* harness
 * property: a thread that stops forever at any step of sample or return does not block draws and puts of other threads
 * engines: explore
 * threads: 2
 * bound: 1 slot with a record; sample and return against evict and put
 * flags explore: --stop-threads
 * executions: 10
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
        if (lade_bag_sample(handle[0], &loan) == LADE_OK)
            lade_bag_give_back(handle[0], &loan);
    } else {
        (void)lade_bag_evict(handle[1]);
        (void)put_record(1, 2);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

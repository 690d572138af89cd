/* harness
 * property: a put that close refuses takes back its own record, not one that another put left in the same cell and slot
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; put against draw, put and close
 * executions: 3
 * cover: both
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/futex.h"

#include "records.h"

#include "bag_wait.c"

static int status[THREADS];
static uint64_t got;

static void setup(void)
{
    make_records(1);
    /* The slot is in use, its group open. */
    assert(put_record(0, 9) == LADE_OK && draw_record(0) == 9);
    got = 0;
}

static void thread(int id)
{
    if (id == 0) {
        status[0] = put_record(0, 1);
        return;
    }
    got = draw_record(1);
    if (!got)
        return;
    status[1] = put_record(1, 2);
    lade_bag_close(bag);
}

static void finish(void)
{
    if (got) {
        assert(got == 1 && status[0] == LADE_OK && status[1] == LADE_OK);
        assert(draw_record(THREADS) == 2);
        cover(both);
    }
    lade_bag_destroy(bag);
}

/* harness
 * property: a record is complete when it is drawn, and its memory is not overwritten before it has been read
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot; put and draw against draw and put
 * executions: 4
 * cover: other
 * timeout: 300
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "records.h"

static void setup(void)
{
    make_records(1);
    assert(put_record(0, 1) == LADE_OK);
}

static void thread(int id)
{
    uint64_t got = 0;

    if (id == 0)
        put_record(0, 2);
    got = draw_record(id);
    if (id == 0 && got == 3)
        cover(other);
    if (id == 1)
        put_record(1, 3);
}

static void finish(void)
{
    while (draw_record(THREADS))
        ;
    lade_bag_destroy(bag);
}

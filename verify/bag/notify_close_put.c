/* harness
 * property: close wakes a put that waits for a free slot
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full; close against put_wait
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

#include "bag_wait.c"

static void setup(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        lade_bag_close(bag);
    } else {
        in[1] = 2;
        (void)lade_bag_put_wait(handle[1], &in[1], TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

/* harness
 * property: once an operation has returned CLOSED, every waiting put observes the close or has been woken, even if the closing thread stopped before it woke any thread
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 slot, full; the steps of a waiting put against the first step of close, and an exchange by a third thread
 * executions: 10
 * cover: slept asleep
 */
#define THREADS 3
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

#include "bag_wait.c"

static bool found;

static void setup(void)
{
    make_bag(1);
    assert(put(THREADS, 9) == LADE_OK);
    nobody_sleeps();
    found = false;
}

static void thread(int id)
{
    if (id == 0) {
        mark_closed(bag); /* and stops */
    } else if (id == 1) {
        in[1] = 3;
        (void)lade_bag_put_wait(handle[1], &in[1], TIME_ENOUGH);
    } else {
        in[2] = 5;
        found = lade_bag_exchange(handle[2], &in[2], &out[2]) == LADE_CLOSED;
    }
}

static void finish(void)
{
    if (found)
        nobody_sleeps_on();
    else if (slept_on)
        cover(asleep);
    lade_bag_destroy(bag);
}

/* harness
 * property: once an operation has returned CLOSED, a waiting pop observes the close or has been woken, even if the closing thread stopped before it woke any thread
 * engines: explore genmc/rc11
 * threads: 3
 * bound: mpmc; capacity 1; pop_wait against the first step of close, and a push
 * executions: 10
 * cover: slept asleep
 */
#define THREADS 3
#include "harness.h"

#include "event/sleeper.h"

#include "either.h"

static bool found;

static void setup(void)
{
    make(1);
    nobody_sleeps();
    found = false;
}

static void thread(int id)
{
    if (id == 0) {
        mark_closed(); /* and stops */
    } else if (id == 1) {
        (void)!pop_wait(1, &out[1], TIME_ENOUGH);
    } else {
        found = push(2, 7) == LADE_CLOSED;
    }
}

static void finish(void)
{
    if (found)
        nobody_sleeps_on();
    else if (slept_on)
        cover(asleep);
    destroy_ring();
}

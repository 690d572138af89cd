/* harness
 * property: push wakes a waiting pop
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: mpmc; capacity 1; push against pop_wait
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#include "harness.h"

#include "event/sleeper.h"

#include "either.h"

static void setup(void)
{
    make(1);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0)
        assert(push(0, 5) == LADE_OK);
    else
        (void)!pop_wait(1, &out[1], TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
    destroy_ring();
}

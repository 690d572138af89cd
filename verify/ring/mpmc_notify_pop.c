/* harness
 * property: pop wakes a waiting push
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: mpmc; capacity 1, full; pop against push_wait
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
    assert(push(THREADS, 5) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0)
        assert(pop(0, &out[0]) == LADE_OK && out[0] == 5);
    else
        (void)!push_wait(1, 6, TIME_ENOUGH);
}

static void finish(void)
{
    nobody_sleeps_on();
    destroy_ring();
}

/* harness
 * property: close wakes a pop that waits on the empty ring, and a push that waits on the full ring
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: mpmc; capacity 1, empty or full; close against pop_wait or push_wait; a race stands for the choice
 * executions: 10
 * cover: slept popped pushed
 */
#define THREADS 3
#include "harness.h"

#include "event/sleeper.h"

#include "either.h"

static _Atomic int choice;

static void setup(void)
{
    make(1);
    nobody_sleeps();
    atomic_init(&choice, 0);
}

static void thread(int id)
{
    if (id == 0) {
        close_ring();
    } else if (id == 2) {
        atomic_store_explicit(&choice, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&choice, memory_order_relaxed)) {
        if (pop_wait(1, &out[1], TIME_ENOUGH) == LADE_CLOSED)
            cover(popped);
    } else if (push(1, 5) == LADE_OK) {
        if (push_wait(1, 6, TIME_ENOUGH) == LADE_CLOSED)
            cover(pushed);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    destroy_ring();
}

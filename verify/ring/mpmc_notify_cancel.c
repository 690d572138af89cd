/* harness
 * property: cancel wakes a waiting pop and a waiting push, which then observe the cancellation
 * engines: explore native tsan genmc/rc11
 * threads: 3
 * bound: mpmc; capacity 1, empty or full; cancel against pop_wait or push_wait that has begun; a race stands for the choice
 * executions: 10
 * cover: slept cancelled
 */
#define THREADS 3
#include "harness.h"

#include "event/sleeper.h"

#include "either.h"

static _Atomic int choice;
static int status;

static void setup(void)
{
    make(1);
    nobody_sleeps();
    atomic_init(&choice, 0);
}

static void wait_for_word(void)
{
    struct ring_call c = waiting_pop(1, &out[1]); /* it began before the cancel */

    status = lade_event_await(&ring->wait.arrived, ring_call_or_await, &c, TIME_ENOUGH);
}

static void wait_for_room(void)
{
    struct ring_call c = waiting_push(1, 6);

    assert(push(1, 5) == LADE_OK);
    status = lade_event_await(&ring->wait.left, ring_call_or_await, &c, TIME_ENOUGH);
}

static void thread(int id)
{
    if (id == 0)
        cancel_ring();
    else if (id == 2)
        atomic_store_explicit(&choice, 1, memory_order_relaxed);
    else if (atomic_load_explicit(&choice, memory_order_relaxed))
        wait_for_word();
    else
        wait_for_room();
}

static void finish(void)
{
    nobody_sleeps_on();
    if (status == LADE_CANCELLED)
        cover(cancelled);
    destroy_ring();
}

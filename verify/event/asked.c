/* harness
 * property: a notifier that wakes only waiters for one kind of item sees what kind a waiter waits for
 * threads: 3
 * bound: one item each of two kinds; a waiter for one kind and then for the other
 * executions: 10
 * cover: slept spared
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "sleeper.h"

#include "things.h"

static _Atomic int kind[2], awaited;

static int kind_or_await(void *context, int64_t *until)
{
    (void)until;
    return atomic_load_explicit((_Atomic int *)context, memory_order_relaxed) ? LADE_OK : LADE_AWAIT;
}

static void setup(void)
{
    make_event();
    nobody_sleeps();
    atomic_init(&kind[0], 0);
    atomic_init(&kind[1], 0);
    atomic_init(&awaited, -1);
}

static void bring(int which)
{
    atomic_store_explicit(&kind[which], 1, memory_order_relaxed);
    if (!lade_event_is_awaited(&event))
        return;
    if (atomic_load_explicit(&awaited, memory_order_relaxed) == which)
        lade_event_wake_all(&event);
    else
        cover(spared);
}

static void thread(int id)
{
    if (id != SLEEPER) {
        bring(id / 2);
        return;
    }
    for (int i = 0; i < 2 && !slept_on; i++) {
        atomic_store_explicit(&awaited, i, memory_order_relaxed);
        (void)lade_event_await(&event, kind_or_await, &kind[i], TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
}

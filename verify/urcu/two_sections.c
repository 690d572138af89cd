/* harness
 * property: a grace period also orders what a reader did in a section before the one that it waits for
 * engines: native genmc explore
 * threads: 2
 * bound: one reader with two sections, one update, one grace period
 * executions: 3
 * cover: saw_old saw_new
 */
#define THREADS 2
#include "harness.h"

#include <urcu/urcu-memb.h>

static _Atomic(int *) current;
static int *old, *new;

static void setup(void)
{
    old = malloc(sizeof *old);
    new = malloc(sizeof *new);
    *old = 1;
    *new = 2;
    atomic_init(&current, old);
}

static int look(void)
{
    urcu_memb_read_lock();
    int *p = atomic_load_explicit(&current, memory_order_acquire);
    pause_here();
    int value = *p;
    urcu_memb_read_unlock();
    return value;
}

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0) {
        int first = look(), second = look();
        assert(second >= first);
        if (first == 1)
            cover(saw_old);
        if (second == 2)
            cover(saw_new);
    } else {
        atomic_store_explicit(&current, new, memory_order_release);
        urcu_memb_synchronize_rcu();
        *old = 0;
        free(old);
    }
    urcu_memb_unregister_thread();
}

static void finish(void)
{
    free(new);
}

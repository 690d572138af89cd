/* harness
 * property: a grace period waits for a read section that saw the old version, so the old version may be freed after it
 * engines: native genmc explore
 * threads: 2
 * bound: one reader, one update, one grace period
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

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0) {
        urcu_memb_read_lock();
        int *p = atomic_load_explicit(&current, memory_order_acquire);
        pause_here();
        int value = *p;
        urcu_memb_read_unlock();
        assert(value == 1 || value == 2);
        if (value == 1)
            cover(saw_old);
        else
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

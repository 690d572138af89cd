/* harness
 * property: a read section that misses what preceded the grace period ends before what follows it
 * engines: native genmc explore
 * threads: 2
 * bound: one reader, one grace period
 * executions: 3
 * cover: before after
 */
#define THREADS 2
#include "harness.h"

#include <urcu/urcu-memb.h>

static atomic_int x, y;

static void setup(void)
{
    atomic_init(&x, 0);
    atomic_init(&y, 0);
}

static void thread(int id)
{
    urcu_memb_register_thread();
    if (id == 0) {
        urcu_memb_read_lock();
        int follows = atomic_load_explicit(&y, memory_order_relaxed);
        pause_here();
        int precedes = atomic_load_explicit(&x, memory_order_relaxed);
        urcu_memb_read_unlock();
        assert(!(follows == 1 && precedes == 0));
        if (precedes == 0)
            cover(before);
        if (follows == 1)
            cover(after);
    } else {
        atomic_store_explicit(&x, 1, memory_order_relaxed);
        urcu_memb_synchronize_rcu();
        atomic_store_explicit(&y, 1, memory_order_relaxed);
    }
    urcu_memb_unregister_thread();
}

static void finish(void)
{
}

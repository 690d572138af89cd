/* harness
 * property: a grace period can end while a read section that began after it is still open
 * engines: genmc explore
 * threads: 2
 * bound: one reader, one grace period
 * executions: 2
 * cover: ended_inside
 */
#define THREADS 2
#include "harness.h"

#include <urcu/urcu-memb.h>

static atomic_int ended;

static void setup(void)
{
    atomic_init(&ended, 0);
}

static void thread(int id)
{
    if (id == 0) {
        urcu_memb_read_lock();
        /* Read inside the section: the grace period has ended, the section has not. */
        if (atomic_load_explicit(&ended, memory_order_relaxed))
            cover(ended_inside);
        urcu_memb_read_unlock();
    } else {
        urcu_memb_synchronize_rcu();
        atomic_store_explicit(&ended, 1, memory_order_relaxed);
    }
}

static void finish(void)
{
}

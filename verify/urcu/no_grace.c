/* harness
 * property: without a grace period the reader is left with freed memory
 * engines: genmc/rc11 explore
 * threads: 2
 * bound: one reader, one update
 * expect: FAIL use-after-free
 */
#define THREADS 2
#include "harness.h"

#include <urcu/urcu-memb.h>

static _Atomic(int *) current;
static int *old;

static void setup(void)
{
    old = malloc(sizeof *old);
    *old = 1;
    atomic_init(&current, old);
}

static void thread(int id)
{
    if (id == 0) {
        urcu_memb_read_lock();
        int *p = atomic_load_explicit(&current, memory_order_acquire);
        if (p)
            assert(*p == 1);
        urcu_memb_read_unlock();
    } else {
        atomic_store_explicit(&current, NULL, memory_order_release);
        free(old);
    }
}

static void finish(void)
{
}

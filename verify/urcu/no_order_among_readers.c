/* harness
 * property: read sections order nothing among readers, so a plain write in one and a plain read in another race
 * engines: genmc/rc11 explore
 * threads: 2
 * bound: two readers
 * expect: FAIL race
 */
#define THREADS 2
#include "harness.h"

#include <urcu/urcu-memb.h>

static int shared;

static void setup(void)
{
    shared = 0;
}

static void thread(int id)
{
    urcu_memb_read_lock();
    if (id == 0)
        shared = 1;
    else
        assert(shared >= 0);
    urcu_memb_read_unlock();
}

static void finish(void)
{
}

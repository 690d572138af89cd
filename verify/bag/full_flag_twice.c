/* harness
 * property: FULL is true at some instant of the call, even for the thread that has just filled the bag
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full; draw, then read a flag, against put, set the flag, then put
 * executions: 3
 * cover: late
 */
#define THREADS 2
#define LOOK_BEFORE
#include "harness.h"

#include "full_flag.h"

static void prepare(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

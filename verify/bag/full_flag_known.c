/* harness
 * property: FULL is true at some instant of the call, even if the bag was known to be full
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, known to be full; draw, then read a flag, against set the flag, then put
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "full_flag.h"

static void prepare(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK && put(0, 2) == LADE_FULL);
}

/* harness
 * property: FULL is true at some instant of the call: a put that misses a draw set its flag too late for the draw's thread to see it
 * threads: 2
 * bound: 1 slot, full; draw, then read a flag, against set the flag, then put
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "full_flag.h"

static void prepare(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

/* harness
 * property: FULL is true at an instant of the call: who then misses a draw had announced itself too late for the draw to see it
 * threads: 2
 * bound: 1 slot, full; draw, then look at a flag, against set the flag, then put
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

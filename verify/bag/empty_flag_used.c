/* harness
 * property: EMPTY is true at an instant of the call, also where the active word and the group need not be changed by the put
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, in use before; put, then look at a flag, against set the flag, then draw
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "empty_flag.h"

static void prepare(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK && draw(0) == 1);
}

/* harness
 * property: EMPTY is true at some instant of the call, even if the put does not change the active word or the group
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, in use before; put, then read a flag, against set the flag, then draw
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

/* harness
 * property: under evict-oldest, EMPTY is true at some instant of the call
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
    config.full = LADE_BAG_EVICT_OLDEST;
    make_bag(1);
    assert(put(0, 1) == LADE_OK && draw(0) == 1);
}

/* harness
 * property: EMPTY is true at an instant of the call: who then misses a put had announced itself too late for the put to see it
 * threads: 2
 * bound: 1 slot; put, then look at a flag, against set the flag, then draw
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "empty_flag.h"

static void prepare(void)
{
    make_bag(1);
}

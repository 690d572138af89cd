/* harness
 * property: EMPTY is true at some instant of the call: a draw that misses a put set its flag too late for the put's thread to see it
 * threads: 2
 * bound: 1 slot; put, then read a flag, against set the flag, then draw
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

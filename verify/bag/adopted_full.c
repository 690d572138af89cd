/* harness
 * property: another thread completes a check for FULL that its thread abandoned, and FULL stays accurate
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, full, an abandoned check; draw, then read a flag, against set the flag, then put
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
    atomic_store(&bag->full_state, next_state(atomic_load(&bag->full_state), CHECK_FULL));
    atomic_store(&bag->group[0], next_state(atomic_load(&bag->group[0]), CHECK_FULL));
}

/* harness
 * property: another thread completes a check that its thread abandoned, and EMPTY stays accurate
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, an abandoned check of bag and group; put, then read a flag, against set the flag, then draw
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
    atomic_fetch_add(&bag->active, ACTIVE_VERSION | ACTIVE_CHECK);
    atomic_store(&bag->group[0], next_state(atomic_load(&bag->group[0]), CHECK_EMPTY));
}

/* harness
 * property: a check that its thread left in the middle is finished by another, and EMPTY is as true as ever
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, a check of bag and group under way that nobody goes on with; put, then look at a flag, against set the flag, then draw
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

/* harness
 * property: FULL is true at an instant of the call, also where the bag was known to be full
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, known to be full; draw, then look at a flag, against set the flag, then put
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static _Atomic int flag;
static int seen, status;

static void setup(void)
{
    atomic_store(&flag, 0);
    make_bag(1);
    assert(put(0, 1) == LADE_OK && put(0, 2) == LADE_FULL);
}

static void thread(int id)
{
    if (id == 0) {
        assert(draw(0) == 1);
        seen = atomic_load(&flag);
    } else {
        atomic_store(&flag, 1);
        status = put(1, 2);
    }
}

static void finish(void)
{
    assert(seen || status == LADE_OK);
    if (seen && status == LADE_FULL)
        cover(late);
    lade_bag_destroy(bag);
}

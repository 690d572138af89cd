/* harness
 * property: EMPTY is true at an instant of the call, also where the limit and the group need not be changed by the put
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot, in use before; put, then look at a flag, against set the flag, then draw
 * executions: 3
 * cover: late
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static _Atomic int flag;
static int seen;
static uint64_t got;

static void setup(void)
{
    atomic_store(&flag, 0);
    make_bag(1);
    assert(put(0, 1) == LADE_OK && draw(0) == 1);
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
        seen = atomic_load(&flag);
    } else {
        atomic_store(&flag, 1);
        got = draw(1);
    }
}

static void finish(void)
{
    assert(seen || got);
    if (seen && !got)
        cover(late);
    lade_bag_destroy(bag);
}

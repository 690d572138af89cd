/* harness
 * property: a put that waits for room is woken by the draw that makes it
 * engines: explore
 * threads: 2
 * bound: 1 slot, full; draw against a waiting put
 * executions: 3
 * cover: slept
 * timeout: 120
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static void setup(void)
{
    make_bag(1);
    assert(put(0, 1) == LADE_OK);
}

static void thread(int id)
{
    if (id == 0) {
        assert(draw(0) == 1);
    } else {
        in[1] = 2;
        assert(lade_bag_put_wait(handle[1], &in[1], LADE_FOREVER) == LADE_OK);
        if (atomic_load(&futex_woken[1]))
            cover(slept);
    }
}

static void finish(void)
{
    assert(draw(THREADS) == 2);
    lade_bag_destroy(bag);
}

/* harness
 * property: close wakes a draw that waits
 * engines: explore
 * threads: 2
 * bound: 1 slot; close against a waiting draw
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
}

static void thread(int id)
{
    if (id == 0) {
        lade_bag_close(bag);
    } else {
        assert(lade_bag_draw_wait(handle[1], &out[1], LADE_FOREVER) == LADE_CLOSED);
        if (atomic_load(&futex_woken[1]))
            cover(slept);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

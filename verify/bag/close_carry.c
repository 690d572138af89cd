/* harness
 * property: what a thread did before close is seen by whoever hears CLOSED
 * threads: 2
 * bound: 1 slot; close against draw
 * executions: 2
 * cover: closed
 */
#define THREADS 2
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static uint64_t data;

static void setup(void)
{
    data = 0;
    make_bag(1);
}

static void thread(int id)
{
    if (id == 0) {
        data = 7;
        lade_bag_close(bag);
    } else if (lade_bag_draw(handle[1], &out[1]) == LADE_CLOSED) {
        assert(data == 7);
        cover(closed);
    }
}

static void finish(void)
{
    lade_bag_destroy(bag);
}

/* harness
 * property: put_many of words wakes a waiting draw
 * threads: 2
 * bound: 1 slot; put_many of one word against draw_wait
 * executions: 3
 * cover: slept
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "event/sleeper.h"

#include "small.h"

#include "bag_wait.c"

static void setup(void)
{
    make_bag(1);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        in[0] = 1;
        assert(lade_bag_put_many(handle[0], &in[0], 1) == 1);
    } else {
        (void)lade_bag_draw_wait(handle[1], &out[1], TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

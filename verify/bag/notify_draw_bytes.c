/* harness
 * property: draw wakes a put that waits for the byte budget
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 2 slots, 3 of 3 bytes used; draw against put_wait of 2
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

/* The word of an element is its size in bytes. */
static size_t bytes(void *context, const void *element)
{
    (void)context;
    return (size_t) * (const uint64_t *)element;
}

static void setup(void)
{
    config.byte_budget = 3;
    config.bytes = bytes;
    make_bag(2);
    assert(put(0, 3) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    if (id == 0) {
        assert(draw(0) == 3);
    } else {
        in[1] = 2;
        (void)lade_bag_put_wait(handle[1], &in[1], TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

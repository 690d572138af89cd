/* harness
 * property: a put that evicts wakes a put that waits for the byte budget
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot with 2 of 3 bytes; a put of 1 byte, which evicts these, against its draw and put_wait of 3
 * executions: 300
 * executions explore: 266
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
    config.full = LADE_BAG_EVICT_UNIFORM;
    config.byte_budget = 3;
    config.bytes = bytes;
    make_bag(1);
    assert(put(THREADS, 2) == LADE_OK);
    nobody_sleeps();
}

static void thread(int id)
{
    static const struct call call = {.which = PUT_CALL, .in = &in[1]};
    struct waiting_call c = {handle[1], &call, 0}; /* put_wait, after its first try */

    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
    } else if (draw(1) == 1) { /* leaves no element that the next put could evict */
        in[1] = 3;
        (void)lade_event_await(&bag->left, call_or_await, &c, TIME_ENOUGH);
    }
}

static void finish(void)
{
    nobody_sleeps_on();
    lade_bag_destroy(bag);
}

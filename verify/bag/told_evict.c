/* harness
 * property: a put that is about to sleep for the byte budget is told of the evicting put that makes room
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 slot with 2 of 3 bytes; a put of 1 byte, which evicts these, against its draw and what a waiting put of 3 does
 * executions: 300
 * executions explore: 266
 * cover: waits
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

/* What a waiting call does before it sleeps; it would sleep for ever if the number were the same in the end. */
static uint32_t number;
static int status;

/* An element has as many bytes as its word says. */
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
    status = LADE_OK;
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
    } else if (draw(1) == 1) { /* nothing is left that the next put could evict */
        lade_event_expect(&bag->left);
        number = lade_event_number(&bag->left);
        status = put(1, 3);
    }
}

static void finish(void)
{
    if (status == LADE_FULL) {
        assert(atomic_load(&bag->left.number) != number);
        cover(waits);
    }
    lade_bag_destroy(bag);
}

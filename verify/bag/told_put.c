/* harness
 * property: a put that is about to sleep is told of the draw that it has missed
 * threads: 2
 * bound: 1 slot, full; draw against what a waiting put does
 * executions: 3
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
        lade_event_expect(&bag->left);
        number = lade_event_number(&bag->left);
        status = put(1, 2);
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

/* harness
 * property: a draw that is about to sleep is told of the put that it has missed
 * threads: 2
 * bound: 1 slot; put against what a waiting draw does
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
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
    } else {
        lade_event_expect(&bag->arrived);
        number = lade_event_number(&bag->arrived);
        status = lade_bag_draw(handle[1], &out[1]);
    }
}

static void finish(void)
{
    if (status == LADE_EMPTY) {
        assert(atomic_load(&bag->arrived.number) != number);
        cover(waits);
    }
    lade_bag_destroy(bag);
}

/* harness
 * property: once an operation has returned CLOSED, every waiting draw finds the bag closed or has been woken, even if the closing thread stopped before it woke anybody
 * engines: explore genmc/rc11
 * threads: 3
 * bound: 1 slot; what a waiting draw does against the first step of close, and an exchange by a third thread
 * executions: 10
 * cover: slept woken
 */
#define THREADS 3
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "futex.h"

#include "small.h"

#include "bag_wait.c"

static uint32_t number;
static int status, found;

static void setup(void)
{
    make_bag(1);
    found = 0;
}

static void thread(int id)
{
    if (id == 0) {
        mark_closed(bag); /* and stops */
    } else if (id == 1) {
        lade_event_expect(&bag->arrived);
        number = lade_event_number(&bag->arrived);
        status = lade_bag_draw(handle[1], &out[1]);
    } else {
        in[2] = 5;
        found = lade_bag_exchange(handle[2], &in[2], &out[2]) == LADE_CLOSED;
    }
}

static void finish(void)
{
    if (status == LADE_EMPTY) { /* sleeps if the number is the same */
        if (found) {
            assert(atomic_load(&bag->arrived.number) != number);
            cover(woken);
        } else {
            cover(slept);
        }
    }
    lade_bag_destroy(bag);
}

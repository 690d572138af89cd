/* harness
 * property: after a pop has returned CLOSED the mpmc ring stays empty: each word whose push succeeded was popped
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: mpmc; capacity 1; a push against close and pops until one returns CLOSED
 * executions: 4
 * cover: refused popped
 */
#define THREADS 2
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static int pushed, popped;

static void setup(void)
{
    pushed = popped = 0;
    make(1);
}

static void thread(int id)
{
    if (id == 0) {
        pushed = push(0, 5) == LADE_OK;
        if (!pushed)
            cover(refused);
        return;
    }
    close_ring();
    if (pop(1, &out[1]) == LADE_CLOSED)
        return;
    assert(out[1] == 5);
    popped = 1;
    cover(popped);
    assert(pop(1, &out[1]) == LADE_CLOSED);
}

static void finish(void)
{
    assert(pushed == popped);
    assert(pop(THREADS, &out[THREADS]) == LADE_CLOSED);
    destroy_ring();
}

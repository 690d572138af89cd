/* harness
 * property: what a thread did before close happens before every return of CLOSED from push and pop
 * engines: explore genmc/rc11
 * threads: 3
 * bound: mpmc; capacity 1; close against two pushes by one thread and two pops by another
 * executions: 10
 * cover: pushed popped
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static uint64_t data;

static void setup(void)
{
    data = 0;
    make(1);
}

/* The read is a race unless the close happens before it. */
static bool is_carried(int status)
{
    if (status == LADE_CLOSED)
        assert(data == 7);
    return status == LADE_CLOSED;
}

static void thread(int id)
{
    if (id == 0) {
        data = 7;
        close_ring();
        return;
    }
    for (int i = 0; i < 2; i++)
        if (id == 1 && is_carried(push(1, 5)))
            cover(pushed);
        else if (id == 2 && is_carried(pop(2, &out[2])))
            cover(popped);
}

static void finish(void)
{
    destroy_ring();
}

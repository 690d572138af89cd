/* harness
 * property: a thread that stops forever at any step of a push, a pop or a close blocks no other thread of a ring with waits
 * engines: explore
 * threads: 3
 * bound: mpmc; capacity 1; a push, a pop, close and a pop; each thread stopped after each of its steps
 * flags explore: --stop-threads
 * executions: 20
 * cover: empty closed popped
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "event/futex.h"

#include "either.h"

static void setup(void)
{
    make(1);
}

static void do_pop(int id)
{
    int status = pop(id, &out[id]);

    if (status == LADE_OK) {
        assert(out[id] == 5);
        cover(popped);
    } else if (status == LADE_EMPTY) {
        cover(empty);
    } else {
        assert(status == LADE_CLOSED);
        cover(closed);
    }
}

static void thread(int id)
{
    if (id == 0)
        (void)push(id, 5);
    if (id == 2)
        close_ring();
    if (id != 0)
        do_pop(id);
}

static void finish(void)
{
    destroy_ring();
}

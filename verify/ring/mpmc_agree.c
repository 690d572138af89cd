/* harness
 * property: FULL in one thread and EMPTY in another never contradict each other
 * threads: 3
 * bound: capacity 2, one word; two pushes against two pops
 * executions: 20
 * cover: full empty
 */
#define THREADS 3
#include "harness.h"

#include "mpmc.h"

static int pushed[2], popped[2];

static void setup(void)
{
    make(2);
    assert(lade_mpmc_push(handle[THREADS], 1) == LADE_OK);
}

static void thread(int id)
{
    uint64_t word = 0;

    if (id < 2) {
        pushed[id] = lade_mpmc_push(handle[id], 2);
        if (pushed[id] == LADE_FULL)
            cover(full);
    } else {
        popped[0] = lade_mpmc_pop(handle[id], &word);
        assert(popped[0] == LADE_OK && word == 1);
        pause_here();
        popped[1] = lade_mpmc_pop(handle[id], &word);
        if (popped[1] == LADE_EMPTY)
            cover(empty);
    }
}

static void finish(void)
{
    /* FULL: both words were in the ring before the first pop, so one was left for the second. */
    if (pushed[0] == LADE_FULL || pushed[1] == LADE_FULL)
        assert(popped[1] == LADE_OK);
    assert(pushed[0] == LADE_OK || pushed[1] == LADE_OK);
    lade_mpmc_destroy(ring);
}

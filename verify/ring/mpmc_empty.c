/* harness
 * property: EMPTY is accurate: a pop never returns EMPTY on a ring that always holds at least one word
 * threads: 2
 * bound: capacity 2, one word; push and pop against pop
 * executions: 2
 * cover: behind
 */
#define THREADS 2
#include "harness.h"

#include "mpmc.h"

static void setup(void)
{
    make(2);
    assert(lade_mpmc_push(handle[0], 1) == LADE_OK);
}

static void thread(int id)
{
    uint64_t word = 0;

    if (id == 0) {
        assert(lade_mpmc_push(handle[0], 2) == LADE_OK);
        pause_here();
        assert(lade_mpmc_pop(handle[0], &word) == LADE_OK);
    } else {
        pause_here();
        assert(lade_mpmc_pop(handle[1], &word) == LADE_OK);
        if (word == 2)
            cover(behind);
    }
    assert(word == 1 || word == 2);
}

static void finish(void)
{
    lade_mpmc_destroy(ring);
}

/* harness
 * property: FULL is accurate: a push never returns FULL on a ring that never holds more than one of two words
 * threads: 2
 * bound: capacity 2, one word; pop and push against push
 * executions: 5
 * cover: skipped
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
        assert(lade_mpmc_pop(handle[0], &word) == LADE_OK);
        assert(word == 1 || word == 3);
        pause_here();
        assert(lade_mpmc_push(handle[0], 2) == LADE_OK);
    } else {
        pause_here();
        assert(lade_mpmc_push(handle[1], 3) == LADE_OK);
        if (handle[1]->cursor[PUSH] > 2)
            cover(skipped);
    }
}

static void finish(void)
{
    lade_mpmc_destroy(ring);
}

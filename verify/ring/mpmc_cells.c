/* harness
 * property: a cell is read before it is reused and overwritten, and a popped word is the one pushed
 * threads: 2
 * bound: capacity 1, one word; 2 pops against 3 pushes
 * executions: 10
 * cover: round_two
 */
#define THREADS 2
#include "harness.h"

#include "mpmc.h"

static void setup(void)
{
    make(1);
    assert(lade_mpmc_push(handle[1], 10) == LADE_OK);
}

static void thread(int id)
{
    uint64_t next = id == 0 ? 10 : 11;

    for (int i = 0; i < 2 + id; i++) {
        if (id == 0) {
            uint64_t word = 0;
            if (lade_mpmc_pop(handle[0], &word) == LADE_OK)
                assert(word == next++);
        } else if (lade_mpmc_push(handle[1], next) == LADE_OK) {
            next++;
        }
        pause_here();
    }
    if (next == 13)
        cover(round_two);
}

static void finish(void)
{
    lade_mpmc_destroy(ring);
}

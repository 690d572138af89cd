/* harness
 * property: with many producers and consumers, every word is popped exactly once and complete, and the words of one producer in order
 * threads: 3
 * bound: capacity 2, two producers (2 and 1 words), one consumer, wraps
 * executions: 20
 * cover: full empty
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

#include "mpmc.h"

static uint64_t sent[2]; /* by each producer */
static uint64_t next[2]; /* expected from each producer */

static void setup(void)
{
    make(2);
    sent[0] = sent[1] = 0;
    next[0] = next[1] = 0;
}

static void take(uint64_t word)
{
    uint64_t producer = word / 100 - 1;

    assert(producer < 2);
    assert(word % 100 == next[producer]);
    next[producer]++;
}

static void thread(int id)
{
    if (id < 2) {
        for (int i = 0; i < 2 - id; i++) {
            if (lade_mpmc_push(handle[id], 100 * ((uint64_t)id + 1) + sent[id]) == LADE_OK)
                sent[id]++;
            else
                cover(full);
            pause_here();
        }
    } else {
        for (int i = 0; i < 2; i++) {
            uint64_t word = 0;
            if (lade_mpmc_pop(handle[id], &word) == LADE_OK)
                take(word);
            else
                cover(empty);
            pause_here();
        }
    }
}

static void finish(void)
{
    uint64_t word = 0;

    while (lade_mpmc_pop(handle[THREADS], &word) == LADE_OK)
        take(word);
    assert(next[0] == sent[0] && next[1] == sent[1]);
    lade_mpmc_destroy(ring);
}

/* harness
 * property: each of three workers plans a batch of its own, and no paper gets lost
 * threads: 3
 * bound: three workers, a batch each
 * executions: 20
 * cover: last
 */
#define THREADS 3
#include "harness.h"

#include "small.h"

static uint64_t spare[THREADS], planned[THREADS];

static void setup(void)
{
    make_ring();
    for (uint64_t i = 0; i < THREADS; i++)
        spare[i] = i + 1;
}

static void thread(int id)
{
    uint64_t word[LADE_PAPER_WORDS], read;

    do {
        read = lade_ring_read_plan(&ring, word);
        assert(word[1] == second(word[0]));
        planned[id] = word[0]++;
        word[1] = second(word[0]);
    } while (!lade_ring_plan(&ring, read, word, &spare[id]));
    if (id == 0 && planned[id] == 2)
        cover(last);
}

static void finish(void)
{
    uint64_t papers = UINT64_C(1) << (atomic_load(&ring.plan) & LADE_PAPER_MASK), batches = 0;

    for (int i = 0; i < THREADS; i++) {
        papers |= UINT64_C(1) << spare[i];
        batches |= UINT64_C(1) << planned[i];
    }
    assert(papers == 15 && batches == 7);
}

/* harness
 * property: each of three workers plans a separate batch, and no plan record is lost
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
    uint64_t word[LADE_PLAN_WORDS], read;

    do {
        read = lade_batch_ring_read_plan(&ring, word);
        assert(word[1] == second(word[0]));
        planned[id] = word[0]++;
        word[1] = second(word[0]);
    } while (!lade_batch_ring_plan(&ring, read, word, &spare[id]));
    if (id == 0 && planned[id] == 2)
        cover(last);
}

static void finish(void)
{
    uint64_t plans_seen = UINT64_C(1) << (atomic_load(&ring.plan) & LADE_PLAN_MASK), batches = 0;

    for (int i = 0; i < THREADS; i++) {
        plans_seen |= UINT64_C(1) << spare[i];
        batches |= UINT64_C(1) << planned[i];
    }
    assert(plans_seen == 15 && batches == 7);
}

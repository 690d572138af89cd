/* harness
 * property: each batch is planned by one worker, from the plan that the previous one left
 * threads: 2
 * bound: one worker plans two batches and reuses its first plan record, the other plans one
 * executions: 20
 * executions genmc: 11
 * cover: again
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

#define BATCHES 3

static uint64_t spare[THREADS], planned[THREADS][2];

static void setup(void)
{
    make_ring();
    for (uint64_t i = 0; i < THREADS; i++)
        spare[i] = i + 1;
}

static void plan(int id, int i)
{
    uint64_t word[LADE_PLAN_WORDS], read;
    bool done;

    do {
        read = lade_batch_ring_read_plan(&ring, word);
        assert(word[1] == second(word[0]));
        planned[id][i] = word[0]++;
        word[1] = second(word[0]);
        done = lade_batch_ring_plan(&ring, read, word, &spare[id]);
        if (!done)
            cover(again);
    } while (!done);
}

static void thread(int id)
{
    plan(id, 0);
    if (id == 0)
        plan(id, 1);
}

static void finish(void)
{
    uint64_t at = atomic_load(&ring.plan) & LADE_PLAN_MASK;
    uint64_t a = planned[0][0], b = planned[0][1], c = planned[1][0];

    assert(a < b && b < BATCHES && c < BATCHES && c != a && c != b);
    assert(atomic_load(&plans[at].word[0]) == BATCHES && atomic_load(&plans[at].word[1]) == second(BATCHES));
    assert(at < PLANS && spare[0] < PLANS && spare[1] < PLANS);
    assert(at != spare[0] && at != spare[1] && spare[0] != spare[1]);
}

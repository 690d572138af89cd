/* harness
 * property: each batch number goes to one filler, and every batch is copied, in order, by any filler
 * threads: 2
 * bound: 2 slots, 2 fillers with one batch each
 * executions: 272
 * executions genmc: 272
 * cover: overtaken
 * flags genmc: --disable-ipr
 */
#define THREADS 2
#define DEPTH 2
#include "harness.h"

#include "small.h"

static uint64_t filled[2];

static void setup(void)
{
    make_feeder();
}

static void thread(int id)
{
    uint64_t number = 0;

    STEP_FILL(&number);
    filled[id] = number;
    if (id == 0 && number == 1)
        cover(overtaken);
}

static void finish(void)
{
    assert(filled[0] + filled[1] == 1);
    assert(copies == 2 && memory[0] == 1 && memory[1] == 2);
    for (uint64_t i = 0; i < 2; i++)
        assert(atomic_load(&turns[i].word) == lade_slot_word(i, SLOT_READY));
}

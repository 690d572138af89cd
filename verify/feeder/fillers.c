/* harness
 * property: each number goes to one filler, and the copier meets the batches in order
 * threads: 3
 * bound: 2 slots, 2 fillers with one batch each, the copier
 * executions: 196
 * executions genmc: 48
 * cover: overtaken
 * flags genmc: --disable-ipr
 */
#define THREADS 3
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
    if (id < 2) {
        uint64_t number = 0;
        STEP_FILL(&number);
        filled[id] = number;
        if (id == 0 && number == 1)
            cover(overtaken);
    } else {
        for (uint64_t i = 0; i < 2; i++) {
            STEP_COPY(i);
            assert(memory[i] == i + 1);
        }
    }
}

static void finish(void)
{
    assert(filled[0] + filled[1] == 1);
}

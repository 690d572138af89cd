/* harness
 * property: the word that an exchange leaves is not missed, though the put that it took the place of has not completed
 * threads: 2
 * bound: 1 slot; put against exchange and draw
 * executions: 3
 * cover: swapped
 */
#define THREADS 2
#define TRIES 1
#define below(n) 0
#include "harness.h"

#include "small.h"

static uint64_t got[2];

static void setup(void)
{
    make_bag(1);
    /* The group and the bag are known to be empty. */
    assert(put(0, 9) == LADE_OK && draw(0) == 9 && draw(0) == 0);
    got[0] = got[1] = 0;
}

static void thread(int id)
{
    if (id == 0) {
        assert(put(0, 1) == LADE_OK);
        return;
    }
    /* Looks at the slot itself, as a thread would that knew the limit from before. */
    if (attempt(handle[1], EXCHANGE, 0, 2)) {
        got[0] = handle[1]->seen;
        got[1] = draw(1);
        assert(got[0] == 1 && got[1] == 2);
        cover(swapped);
    }
}

static void finish(void)
{
    assert(draw(THREADS) == (got[0] ? 0 : 1));
    lade_bag_destroy(bag);
}

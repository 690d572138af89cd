/* harness
 * property: who hears that a worker is lost, or has failed, has all that it wrote before
 * threads: 2
 * bound: a worker that fails at a sample of its claim and then ends
 * executions: 3
 * cover: failed lost
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static _Atomic uint32_t failed, state;
static uint64_t error, claim;

static void setup(void)
{
    make_ring();
    atomic_store(&failed, 0);
    atomic_store(&state, 0);
    error = claim = 0;
}

static void thread(int id)
{
    if (id == 0) {
        error = 7;
        lade_ring_say(&failed, 5);
        claim = 8;
        lade_ring_say(&state, 3);
        return;
    }
    uint32_t heard = lade_ring_hear(&failed);
    if (heard) {
        assert(heard == 5 && error == 7);
        cover(failed);
    }
    if (lade_ring_hear(&state) == 3) {
        assert(claim == 8);
        claim = 9; /* it belongs to the next one */
        cover(lost);
    }
}

static void finish(void)
{
    assert(claim == 8 || claim == 9);
}

/* harness
 * property: a thread that observes that a worker is lost, or has failed, sees all that the worker wrote before
 * threads: 2
 * bound: a worker that fails at a sample of its job and then ends
 * executions: 3
 * cover: failed lost
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

static _Atomic uint32_t failed, state;
static uint64_t error, job;

static void setup(void)
{
    make_ring();
    atomic_store(&failed, 0);
    atomic_store(&state, 0);
    error = job = 0;
}

static void thread(int id)
{
    if (id == 0) {
        error = 7;
        lade_store_release(&failed, 5);
        job = 8;
        lade_store_release(&state, 3);
        return;
    }
    uint32_t observed = lade_load_acquire(&failed);
    if (observed) {
        assert(observed == 5 && error == 7);
        cover(failed);
    }
    if (lade_load_acquire(&state) == 3) {
        assert(job == 8);
        job = 9; /* the job belongs to the replacement */
        cover(lost);
    }
}

static void finish(void)
{
    assert(job == 8 || job == 9);
}

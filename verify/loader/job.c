/* harness
 * property: each sample of a job counts once, for its worker or for the worker that supersedes it
 * threads: 2
 * bound: two jobs of two samples; superseded at most once, at any time
 * executions: 5
 * cover: all_late some_late second nothing
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

#define CLAIMS 2
#define COUNT 2

/* The number of the job's first sample, which a worker writes before it begins the job. */
static uint64_t first;
static _Atomic uint64_t committed;
static uint64_t begun, counted[THREADS]; /* a bit for each sample */

static void setup(void)
{
    make_ring();
    atomic_store(&committed, LADE_JOB_NONE);
    first = begun = counted[0] = counted[1] = 0;
}

static void count(int id, uint64_t sample)
{
    assert(!(counted[id] >> sample & 1));
    counted[id] |= UINT64_C(1) << sample;
}

static void work(int id)
{
    for (uint64_t c = 0; c < CLAIMS; c++) {
        first = c * COUNT;
        begun = c + 1;
        lade_job_begin(&committed);
        for (uint64_t i = 0; i < COUNT; i++) {
            pause_here();
            if (!lade_job_commit(&committed, i, COUNT))
                return;
            count(id, first + i);
        }
    }
}

static void supersede(int id)
{
    uint64_t from;

    if (!lade_job_supersede(&committed, &from)) {
        cover(nothing);
        return;
    }
    assert(from < COUNT);
    for (uint64_t i = from; i < COUNT; i++)
        count(id, first + i);
    if (from == 0)
        cover(all_late);
    else
        cover(some_late);
    if (first > 0)
        cover(second);
}

static void thread(int id)
{
    if (id == 0)
        work(id);
    else
        supersede(id);
}

static void finish(void)
{
    assert((counted[0] & counted[1]) == 0);
    assert((counted[0] | counted[1]) == (UINT64_C(1) << begun * COUNT) - 1);
    assert((atomic_load(&committed) == LADE_JOB_GONE) == (counted[1] != 0));
}

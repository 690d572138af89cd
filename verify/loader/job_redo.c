/* harness
 * property: a worker that begins a job and is superseded at any time, even before it begins, takes no further work
 * threads: 2
 * bound: a job of two samples, and one more; superseded at most once
 * executions: 8
 * cover: before_it_began some_late second nothing
 */
#define THREADS 2
#include "harness.h"

#include "small.h"

#define COUNT 2

static uint64_t first; /* sample of the job */
static _Atomic uint64_t committed;
static uint64_t begun, producers, counted[THREADS]; /* a bit for each sample */

static void setup(void)
{
    make_ring();
    atomic_store(&committed, 0);
    first = producers = counted[0] = counted[1] = 0;
    begun = 1;
}

static void count(int id, uint64_t sample)
{
    assert(!(counted[id] >> sample & 1));
    counted[id] |= UINT64_C(1) << sample;
}

static bool put_claimed(int id, uint64_t i)
{
    for (; i < COUNT; i++) {
        if (!lade_job_commit(&committed, i, COUNT))
            return false;
        count(id, first + i);
    }
    return true;
}

static void work(int id)
{
    uint64_t i;

    pause_here();
    if (!lade_job_resume(&committed, &i)) {
        cover(before_it_began);
        return;
    }
    if (!put_claimed(id, i))
        return;
    first = COUNT;
    begun = 2;
    lade_job_begin(&committed);
    (void)put_claimed(id, 0);
}

static void supersede(int id)
{
    uint64_t from;

    if (!lade_job_supersede(&committed, &from)) {
        cover(nothing);
        return;
    }
    for (uint64_t i = from; i < COUNT; i++)
        count(id, first + i);
    if (from > 0)
        cover(some_late);
    if (first > 0)
        cover(second);
    producers++; /* the replacement */
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
    if (atomic_load(&committed) != LADE_JOB_GONE)
        producers++;
    assert(producers == 1);
    assert((counted[0] & counted[1]) == 0);
    assert((counted[0] | counted[1]) == (UINT64_C(1) << begun * COUNT) - 1);
}

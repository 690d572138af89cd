/* harness
 * property: a thread that stops forever at any step of a push or a pop blocks no other thread; the capacity stays whole, and at most its own word is missing
 * engines: genmc explore
 * threads: 3
 * bound: capacity 1; thread 0 stops at each of its steps; thread 1 pops and pushes; thread 2 chooses the step
 * executions: 20
 * cover: stopped ran_through
 * timeout: 120
 */
#define THREADS 3
#include "harness.h"

/* Step at which thread 0 stops. Thread 2 changes it by relaxed stores, so that a checker tries every value. */
static atomic_int stop_at;
static int steps_left; /* of thread 0 */

static void step(void);
#define LADE_STEP() step()

#include "mpmc.h"

enum { LAST_STEP = 6 }; /* more than an uncontended push and pop take */

static void step(void)
{
    if (harness_id != 0)
        return;
    if (steps_left-- == 0) {
        cover(stopped);
        pthread_exit(NULL);
    }
}

static void setup(void)
{
    make(1);
    atomic_init(&stop_at, 0);
    steps_left = 0;
}

static void thread(int id)
{
    uint64_t word = 0;

    if (id == 0) {
        steps_left = atomic_load_explicit(&stop_at, memory_order_relaxed);
        (void)lade_mpmc_push(handle[0], 10);
        (void)lade_mpmc_pop(handle[0], &word);
        cover(ran_through);
    } else if (id == 1) {
        int popped = lade_mpmc_pop(handle[1], &word);
        assert(popped == LADE_EMPTY || word == 10);
        int pushed = lade_mpmc_push(handle[1], 11);
        assert(pushed == LADE_OK || pushed == LADE_FULL);
    } else {
        for (int i = 1; i <= LAST_STEP; i++)
            atomic_store_explicit(&stop_at, i, memory_order_relaxed);
    }
}

/* The ring still works: it can be drained, then holds exactly one word, and is empty again. */
static void finish(void)
{
    uint64_t word = 0;
    int left = 0;

    while (lade_mpmc_pop(handle[THREADS], &word) == LADE_OK) {
        assert(word == 10 || word == 11);
        left++;
    }
    assert(left <= 1);
    assert(lade_mpmc_push(handle[THREADS], 12) == LADE_OK);
    assert(lade_mpmc_push(handle[THREADS], 13) == LADE_FULL);
    assert(lade_mpmc_pop(handle[THREADS], &word) == LADE_OK && word == 12);
    assert(lade_mpmc_pop(handle[THREADS], &word) == LADE_EMPTY);
    lade_mpmc_destroy(ring);
}

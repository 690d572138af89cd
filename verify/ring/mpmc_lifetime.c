/* harness
 * property: when the turns of a ring are used up, every push returns FULL and every pop EMPTY, even through a handle that was never used; no word is lost before that
 * engines: explore native tsan genmc/rc11
 * threads: 2
 * bound: 1 word, one round before the last; push, pop, push against push and pop through an unused handle
 * executions: 6
 * cover: first second
 * rounds: 200
 */
#define THREADS 2
#include "harness.h"

#include "mpmc.h"

static int pushed[THREADS + 1], popped[THREADS + 1];

static void setup(void)
{
    make(1);
    /* As if handle 0 had done all exchanges except those of the last two rounds. */
    uint64_t turns = UINT64_C(1) << (64 - ring->cell_bits);
    uint64_t round = turns / 2 - 2;
    assert(ring->position_bits == 0);
    atomic_store_explicit(&ring->entry[0], 2 * round << ring->cell_bits, memory_order_relaxed);
    handle[0]->cursor[PUSH] = handle[0]->cursor[POP] = round;
    atomic_store_explicit(&ring->ticket[PUSH].done, round, memory_order_relaxed);
    atomic_store_explicit(&ring->ticket[POP].done, round, memory_order_relaxed);
    for (int i = 0; i <= THREADS; i++)
        pushed[i] = popped[i] = 0;
}

static void push(int id, uint64_t word)
{
    int status = lade_mpmc_push(handle[id], word);

    assert(status == LADE_OK || status == LADE_FULL);
    pushed[id] += status == LADE_OK;
}

static void pop(int id)
{
    uint64_t word = 0;

    if (lade_mpmc_pop(handle[id], &word) == LADE_OK) {
        assert(word >= 1 && word <= 3);
        popped[id]++;
    }
}

static void thread(int id)
{
    push(id, (uint64_t)id + 1);
    pop(id);
    if (id == 0)
        push(id, 3);
}

static void finish(void)
{
    pop(THREADS);
    assert(pushed[0] + pushed[1] == 1);
    assert(popped[0] + popped[1] + popped[THREADS] == 1);
    for (int i = 0; i <= THREADS; i++) {
        push(i, 1);
        pop(i);
    }
    assert(pushed[0] + pushed[1] + pushed[THREADS] == 1);
    if (pushed[0])
        cover(first);
    if (pushed[1])
        cover(second);
    lade_mpmc_destroy(ring);
}

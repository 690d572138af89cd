/* SPDX-License-Identifier: MIT */
/*
 * Linearizability under explore: every call is marked, and each explored execution must have a linearization: an order
 * of the calls that a bounded queue of CAPACITY words allows and that respects happens-before. (linear.h does the same
 * for GenMC, by refinement.)
 */
#include <lade_explore.h>

enum lin_operation { LIN_PUSH, LIN_POP };

struct lin_queue {
    long word[CAPACITY];
    long count;
};

/* push: 1, or 0 for FULL; pop: the word, or 0 for EMPTY. */
static bool lin_step(void *state, int operation, long argument, long result)
{
    struct lin_queue *q = state;

    if (operation == LIN_PUSH) {
        if (q->count == CAPACITY)
            return result == 0;
        q->word[q->count++] = argument;
        return result == 1;
    }
    if (q->count == 0)
        return result == 0;
    long first = q->word[0];
    for (long i = 1; i < q->count; i++)
        q->word[i - 1] = q->word[i];
    q->count--;
    return result == first;
}

static void lin_setup(void)
{
    explore_spec(sizeof(struct lin_queue), lin_step);
}

/* The harness defines these two. */
static bool push(int id, uint64_t word);
static uint64_t pop(int id);

static bool lin_push(int id, uint64_t word)
{
    explore_begin(LIN_PUSH, (long)word);
    bool done = push(id, word);
    explore_end(done);
    return done;
}

static uint64_t lin_pop(int id)
{
    explore_begin(LIN_POP, 0);
    uint64_t word = pop(id);
    explore_end((long)word);
    return word;
}

/* SPDX-License-Identifier: MIT */
/*
 * Linearizability under explore: every call is marked, and each explored execution must have a linearization: an order
 * of the calls that a multiset of at most CAPACITY words allows and that respects happens-before. With LIN_STEPS, FULL
 * and EMPTY may stand anywhere: they refer to completed operations, and can contradict each other.
 */
#include <lade_explore.h>

enum lin_operation { LIN_PUT, LIN_DRAW, LIN_EXCHANGE };

struct lin_bag {
    long word[CAPACITY];
    long count;
};

static bool lin_take(struct lin_bag *b, long word)
{
    for (long i = 0; i < b->count; i++)
        if (b->word[i] == word) {
            b->word[i] = b->word[--b->count];
            return true;
        }
    return false;
}

/* put: 1, or 0 for FULL; draw and exchange: the word, or 0 for EMPTY. */
static bool lin_step(void *state, int operation, long argument, long result)
{
    struct lin_bag *b = state;

#ifdef LIN_STEPS
    if (result == 0)
        return true;
#endif
    if (operation == LIN_PUT) {
        if (b->count == CAPACITY)
            return result == 0;
        b->word[b->count++] = argument;
        return result == 1;
    }
    if (b->count == 0)
        return result == 0;
    if (!lin_take(b, result))
        return false;
    if (operation == LIN_EXCHANGE)
        b->word[b->count++] = argument;
    return true;
}

static void lin_setup(void)
{
    explore_spec(sizeof(struct lin_bag), lin_step);
}

static bool lin_put(int id, uint64_t word)
{
    explore_begin(LIN_PUT, (long)word);
    bool done = put(id, word) == LADE_OK;
    explore_end(done);
    return done;
}

static uint64_t lin_draw(int id)
{
    explore_begin(LIN_DRAW, 0);
    uint64_t word = draw(id);
    explore_end((long)word);
    return word;
}

static inline uint64_t lin_exchange(int id, uint64_t word)
{
    uint64_t got = 0;

    in[id] = word;
    explore_begin(LIN_EXCHANGE, (long)word);
    if (lade_bag_exchange(handle[id], &in[id], &out[id]) == LADE_OK)
        got = out[id];
    explore_end((long)got);
    return got;
}

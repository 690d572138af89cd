/* SPDX-License-Identifier: MIT */
/* Routing with TOKENS tokens in a real bag: one class with a token for each part. */
#define SLOTS_IN_GROUP 2
#define TRIES 0
#include "../bag/small.h"

#include "map.h"

#include "split_token.c"

static struct lade_split_class only;

static unsigned choice(void)
{
    return 0;
}

/* The bag has a handle for each thread; handle[THREADS] is for finish(). */
static void make_quota_split(void)
{
    make_split(LADE_SPLIT_QUOTA);
    split.config.classes = 1;
    make_bag(TOKENS);
    for (uint64_t i = 0; i < TOKENS; i++)
        assert(put(THREADS, i + 1) == LADE_OK);
    for (int i = 0; i < THREADS; i++)
        lade_bag_leave(handle[i]);
    only.tokens = bag;
    atomic_store_explicit(&only.left, TOKENS, memory_order_relaxed);
    split.class_of = &only;
}

/* Drains the bag and returns its tokens, a bit for each part. */
static unsigned tokens_left(void)
{
    unsigned seen = 0;

    for (uint64_t word = draw(THREADS); word; word = draw(THREADS)) {
        assert(!(seen & 1u << (word - 1)));
        seen |= 1u << (word - 1);
    }
    return seen;
}

/* SPDX-License-Identifier: MIT */
/* A filter, or arrays, of two words. The harness chooses the words, fingerprint and coin of an item. */
#define LADE_SPLIT_PROBE 2
#include "split_compact.c"

/* high: the first word; low: distinguishes items in it; the coin is 0 or 1, depending on the thread that tosses it. */
void lade_split_random(const struct lade_split_name *name, uint32_t purpose, uint32_t number, uint64_t out[2])
{
    (void)purpose;
    out[0] = number == 0 ? name->high << 63 : harness_id % 2 ? UINT64_MAX : 0;
    out[1] = name->low;
}

static _Atomic uint64_t word[2];
static struct lade_split split;

static void make_words(enum lade_split_store store, uint64_t first)
{
    split.config.store = store;
    split.word = word;
    split.words = 2;
    split.share = LADE_SPLIT_WHOLE / 2;
    atomic_store_explicit(&word[0], first, memory_order_relaxed);
    atomic_store_explicit(&word[1], 0, memory_order_relaxed);
}

static unsigned route(uint64_t low)
{
    struct lade_split_name name;
    unsigned part = 9;

    name.high = 0;
    name.low = low;
    assert(lade_split_route_compact(&split, &name, &part) == LADE_OK);
    return part;
}

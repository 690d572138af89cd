/* SPDX-License-Identifier: MIT */
/*
 * The two stores that record a side without recording the item. Both are arrays of words. One compare-and-swap on a
 * word records an item and decides its part. So two threads with the same item agree, and what a word holds is never
 * removed.
 *
 * compact   a word has six entries of ten bits, nine for a fingerprint and one for the side, filled in order, and their
 *           number. An item goes to the first word on its probe sequence that is not full. It is found if an entry on
 *           that sequence has its fingerprint. Entries before the item's own never change, so its part never does.
 * arrays    a word has 32 bits of the array B (part 0) and 32 of C (part 1) of Lin 2026. An item has one bit in each.
 *           Set in B: part 0; else set in C: part 1; else the coin decides and sets one of the bits. Both bits have the
 *           same index, so at most one of them is ever set, and the part never changes. With one index per array
 *           (uncorrected), an item of part 1 moves to part 0 as soon as another item sets its bit in B.
 *
 * Correction. Let m0 be the probability that a new item is confused, on its probe sequence, with an item of part 0, m1
 * the same for part 1, and p = 1 - m0 - m1 the probability that it reaches the coin. All three follow from the words
 * that it has inspected. It must go to part 0 with probability a, so the coin returns 0 with probability (a - m0) / p.
 * If a < m0 that is impossible, and the share is off by the difference, which lade_split_stats() reports.
 *
 * Only the words are shared, so no memory order is needed.
 */
#include "split_filter.h"

/* 12.5 bits per item: six entries per word, filled to 0.85 at capacity. */
#define COMPACT_WORDS(n) ((n)*25 / 128 + 1)
#define CAPACITY_MAX (UINT64_C(1) << 40)
#define BITS_DEFAULT 100
#define BITS_MAX 1024

static unsigned toss(const struct lade_split *s, const struct meeting *m, uint64_t coin)
{
    uint64_t low;

    return lade_multiply(coin, m->left, &low) >= for_part_0(s, m);
}

static int route_filter(struct lade_split *s, const uint64_t bits[2], uint64_t coin, unsigned *part)
{
    const unsigned fingerprint = (unsigned)(bits[1] & (ENTRY >> 1));
    struct meeting m;
    struct way w;

    meet_none(&m);
    begin(s, bits, &w);
    for (int i = 0; i < LADE_SPLIT_PROBE; i++, go_on(s, &w)) {
        uint64_t seen = atomic_load_explicit(&s->word[w.at], memory_order_relaxed);
        for (unsigned entry = 0; entry < ENTRIES; entry++) {
            while (entry == seen >> COUNT_SHIFT) {
                unsigned side = toss(s, &m, coin);
                uint64_t mine = (uint64_t)(fingerprint << 1 | side) << ENTRY_BITS * entry;
                uint64_t next = (seen | mine) + (UINT64_C(1) << COUNT_SHIFT);
                if (atomic_compare_exchange_strong_explicit(&s->word[w.at], &seen, next, memory_order_relaxed,
                                                            memory_order_relaxed)) {
                    *part = side;
                    return LADE_OK;
                }
            }
            unsigned there = (unsigned)(seen >> ENTRY_BITS * entry) & ENTRY;
            if (there >> 1 == fingerprint) {
                *part = there & 1;
                return LADE_OK;
            }
            meet(&m, there & 1);
        }
    }
    return LADE_FULL;
}

static int route_arrays(struct lade_split *s, const uint64_t bits[2], uint64_t coin, unsigned *part)
{
    const uint64_t index = bits[1] % HALF, other = s->config.uncorrected ? bits[1] / HALF % HALF : index;
    const uint64_t in_b = UINT64_C(1) << index, in_c = UINT64_C(1) << (HALF + other);
    uint64_t low, at = lade_multiply(bits[0], s->words, &low);
    uint64_t seen = atomic_load_explicit(&s->word[at], memory_order_relaxed), next;

    do {
        struct meeting m;
        if (seen & (in_b | in_c)) {
            *part = !(seen & in_b);
            return LADE_OK;
        }
        meet_arrays(s, &m, seen);
        *part = toss(s, &m, coin);
        next = seen | (*part ? in_c : in_b);
    } while (!atomic_compare_exchange_strong_explicit(&s->word[at], &seen, next, memory_order_relaxed,
                                                      memory_order_relaxed));
    return LADE_OK;
}

int lade_split_route_compact(struct lade_split *s, const struct lade_split_name *name, unsigned *part)
{
    uint64_t bits[2], coin[2];

    lade_split_random(name, LADE_SPLIT_FOR_FILTER, 0, bits);
    lade_split_random(name, LADE_SPLIT_FOR_FILTER, 1, coin);
    return s->config.store == LADE_SPLIT_COMPACT ? route_filter(s, bits, coin[0], part)
                                                 : route_arrays(s, bits, coin[0], part);
}

/* With a prime number of words, a probe sequence with any step reaches all words, and has no short cycle. */
static uint64_t prime_from(uint64_t n)
{
    for (;; n++) {
        uint64_t divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        if (divisor * divisor > n)
            return n;
    }
}

/* Sets the numbers in use and returns the number of words; 0: out of range. */
static uint64_t words_for(struct lade_split_config *c)
{
    if (c->capacity == 0 || c->capacity > CAPACITY_MAX || c->bits_per_item > BITS_MAX)
        return 0;
    if (c->store == LADE_SPLIT_COMPACT)
        return c->bits_per_item == 0 ? prime_from(COMPACT_WORDS(c->capacity)) : 0;
    if (c->bits_per_item == 0)
        c->bits_per_item = BITS_DEFAULT;
    return c->bits_per_item < 2 ? 0 : (c->capacity * c->bits_per_item + 63) / 64;
}

int lade_split_make_words(struct lade_split *s)
{
    uint64_t first = (uint64_t)s->weight[0] << 31;

    s->words = words_for(&s->config);
    if (s->words == 0)
        return LADE_INVALID;
    /* weight 0 / both, in two steps of 31 bits */
    s->share = first / s->weights << 31 | (first % s->weights << 31) / s->weights;
    s->word = lade_array_get(s->config.alloc, s->words, sizeof *s->word);
    return s->word ? LADE_OK : LADE_NO_MEMORY;
}

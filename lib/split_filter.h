/* SPDX-License-Identifier: MIT */
/* What the words of a filter or of arrays mean for an item that is routed. Internal; see split_compact.c. */
#ifndef LADE_LIB_SPLIT_FILTER_H
#define LADE_LIB_SPLIT_FILTER_H

#include "split.h"

/* Checkers define smaller numbers. */
#ifndef LADE_SPLIT_PROBE
#define LADE_SPLIT_PROBE 64 /* maximum number of words that an item inspects */
#endif

#define ENTRIES 6
#define ENTRY_BITS 10
#define ENTRY ((1u << ENTRY_BITS) - 1)
#define FINGERPRINTS 9 /* bits */
#define COUNT_SHIFT 60
#define HALF 32 /* bits of an array in a word */

/* The entries that an item meets on its probe sequence. */
struct meeting {
    uint64_t mass[2]; /* probability of being confused with an item of that part */
    uint64_t left;    /* ... with no item */
};

static inline void meet_none(struct meeting *m)
{
    m->mass[0] = m->mass[1] = 0;
    m->left = LADE_SPLIT_WHOLE;
}

static inline void meet(struct meeting *m, unsigned side)
{
    uint64_t same = m->left >> FINGERPRINTS;

    m->mass[side] += same;
    m->left -= same;
}

static inline void meet_arrays(const struct lade_split *s, struct meeting *m, uint64_t word)
{
    unsigned set[2] = {0, 0};

    for (unsigned i = 0; i < 2 * HALF; i++)
        set[i / HALF] += (unsigned)(word >> i & 1);
    m->mass[0] = LADE_SPLIT_WHOLE / HALF * set[0];
    m->mass[1] = (s->config.uncorrected ? LADE_SPLIT_WHOLE - m->mass[0] : LADE_SPLIT_WHOLE) / HALF * set[1];
    m->left = LADE_SPLIT_WHOLE - m->mass[0] - m->mass[1];
}

/* Returns how much of the remaining probability the coin gives to part 0. */
static inline uint64_t for_part_0(const struct lade_split *s, const struct meeting *m)
{
    uint64_t low;

    if (s->config.uncorrected && s->share < LADE_SPLIT_WHOLE)
        return lade_multiply(m->left, s->share << 2, &low);
    uint64_t want = s->share > m->mass[0] ? s->share - m->mass[0] : 0;
    return want < m->left ? want : m->left;
}

/*
 * The probe sequence of an item: a first word and a step that depends on the item, so that full words do not form long
 * runs.
 */
struct way {
    uint64_t at, step;
};

static inline void begin(const struct lade_split *s, const uint64_t bits[2], struct way *w)
{
    uint64_t rest;

    w->at = lade_multiply(bits[0], s->words, &rest);
    w->step = s->words > 1 ? 1 + lade_multiply(bits[1], s->words - 1, &rest) : 0;
}

static inline void go_on(const struct lade_split *s, struct way *w)
{
    w->at = w->at < s->words - w->step ? w->at + w->step : w->at - (s->words - w->step);
}

#endif

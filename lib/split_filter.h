/* SPDX-License-Identifier: MIT */
/* What the words of a filter or of arrays mean to an item that comes along. Internal; see split_compact.c. */
#ifndef LADE_LIB_SPLIT_FILTER_H
#define LADE_LIB_SPLIT_FILTER_H

#include "split.h"

/* Checkers take smaller ones. */
#ifndef LADE_SPLIT_PROBE
#define LADE_SPLIT_PROBE 64 /* words that an item looks at, at most */
#endif

#define ENTRIES 6
#define ENTRY_BITS 10
#define ENTRY ((1u << ENTRY_BITS) - 1)
#define FINGERPRINTS 9 /* bits */
#define COUNT_SHIFT 60
#define HALF 32 /* bits of an array in a word */

/* What an item meets on its way. */
struct meeting {
    uint64_t mass[2]; /* probability of being taken for an item of that part */
    uint64_t left;    /* of none */
};

static inline void meet_nobody(struct meeting *m)
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

/* How much of what is left the coin gives to part 0. */
static inline uint64_t for_part_0(const struct lade_split *s, const struct meeting *m)
{
    uint64_t low;

    if (s->config.uncorrected && s->share < LADE_SPLIT_WHOLE)
        return lade_multiply(m->left, s->share << 2, &low);
    uint64_t want = s->share > m->mass[0] ? s->share - m->mass[0] : 0;
    return want < m->left ? want : m->left;
}

/* The words that an item looks at: from a first one on by a step of its own, so that full words do not make long rows. */
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

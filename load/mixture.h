/* SPDX-License-Identifier: MIT */
/*
 * The law of a mixture: which source, and which of its samples, each position of an epoch has. Pure functions. Internal.
 *
 * The law is periodic: after as many positions as the sum of the weights, each source has had its weight exactly. So one
 * period is computed, and any position is looked up. Where a source is dropped a new span begins, with another period.
 */
#ifndef LADE_LOAD_MIXTURE_H
#define LADE_LOAD_MIXTURE_H

#include <lade/mixture.h>

/* Sources, and how they are mixed. */
struct lade_mixture {
    unsigned sources;
    struct lade_source *source[LADE_MIXTURE_SOURCES_MAX];
    uint64_t first[LADE_MIXTURE_SOURCES_MAX + 1]; /* number in the mixture of the first sample of each, and of all */
    uint32_t weight[LADE_MIXTURE_SOURCES_MAX];    /* without their common factor */
    enum lade_mixture_end end;
    bool owned;
    struct lade_schema schema;
    struct lade_field field[LADE_FIELDS_MAX];
    const struct lade_alloc *alloc;
};

/* NULL: not a mixture. */
const struct lade_mixture *lade_mixture_of(const struct lade_source *source);
/* Source of a sample. */
unsigned lade_mixture_source(const struct lade_mixture *mixture, uint64_t id);
/* Divides weights by their common factor. The sum, saturated above LADE_MIXTURE_WEIGHT_MAX. */
uint32_t lade_mixture_reduce(uint32_t *weight, unsigned sources);

/* Positions with one set of sources. */
struct lade_mixture_span {
    uint64_t from;                            /* the first of them */
    uint64_t taken[LADE_MIXTURE_SOURCES_MAX]; /* samples of each source before it in this epoch */
    uint32_t weight[LADE_MIXTURE_SOURCES_MAX];
    uint32_t period;
    uint32_t *unit; /* for each position of a period: LADE_MIXTURE_SOURCES_MAX * (its number in the period) + source */
};

struct lade_mixture_law {
    struct lade_mixture_span *span;
    unsigned spans;
    uint64_t length; /* of the epoch; 0: there is no law */
};

/*
 * The law from a position on, before which each source has delivered taken samples (NULL: from the beginning).
 * LADE_OK, LADE_NO_MEMORY, or LADE_LIMITED: the epoch is too long. Free in any case.
 */
int lade_mixture_law_init(struct lade_mixture_law *law, const struct lade_mixture *mixture, const uint32_t *weight,
                          uint64_t from, const uint64_t *taken, const struct lade_alloc *alloc);
void lade_mixture_law_free(struct lade_mixture_law *law, const struct lade_alloc *alloc);

/* Source of a position that is not before the first span, and how many of its samples this epoch has before. */
unsigned lade_mixture_law_at(const struct lade_mixture_law *law, uint64_t position, uint64_t *number);
/* Samples of each source before a position. */
void lade_mixture_law_taken(const struct lade_mixture_law *law, unsigned sources, uint64_t position, uint64_t *taken);

#endif

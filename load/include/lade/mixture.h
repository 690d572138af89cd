/* SPDX-License-Identifier: MIT */
/*
 * mixture: several sources with weights as one source, from which a loader takes shares that hold in every prefix.
 *
 * The law     The sources are dealt to the positions of an epoch by weight: after any number t of positions, source i
 *             has had k samples with |k - t * weight / sum of weights| < 1. Unit k of a source may be dealt from
 *             position floor(k * sum / weight) on, and is due before position ceil((k + 1) * sum / weight); each
 *             position takes the unit that may be dealt and is due first, of equals that of the source with the lower
 *             number. (Tijdeman, "The chairman assignment problem", 1980: units with such windows always fit. Taking
 *             the source with the largest deficit instead breaks the bound.) The law is about positions of the epoch,
 *             before they are divided among shards: position x goes to shard x % shards, so a shard alone has no such
 *             law, all together do.
 * Order       Each source has its own random order: permutations of its samples, each keyed by seed, epoch of the
 *             mixture, number of the source and the round, i.e. how often the source was begun in this epoch; with
 *             sequential, the order of the numbers. Each epoch of the mixture begins all sources anew.
 * The end     of a source is one of enum lade_mixture_end. A source of weight 0 is not used, and ends nothing.
 * Weights     can be changed where a loader is resumed, at any boundary of batches: open the same sources in the same
 *             order with other weights, and resume with the state. If its weights differ, the law restarts there:
 *             bounds count from that position on, and each source continues its own order. All shards must be in step
 *             (the delivered samples are a prefix of the epoch), otherwise resume returns LADE_CONFLICT. The next state
 *             remembers the new weights, and how much each source had delivered at the last restart.
 *
 * Samples     are numbered source after source: lade_source_mixture_find() returns source and number of an id of a
 *             batch. Key, name, label and fields of a sample are those in its own source, so sources with plain numbers
 *             for keys share keys. A sample that comes again in an epoch, in another round, gets the same random
 *             transforms.
 *
 * Refused     in a mixture, with LADE_INVALID: other draws than LADE_DRAW_ONCE, stream mode, and config.split (routing
 *             by key would make the lengths of the sources unknown: give one source for each part instead).
 *
 * When not to use it: to weight samples of one source; that is LADE_DRAW_WEIGHTED.
 *
 * Threads      as of the sources. Sources may be in several mixtures.
 * Memory       4 bytes for each unit of the sum of weights without their common factor; LADE_MIXTURE_DROP: as often as
 *              sources end. Each worker: 20 KiB for each source of more than 256 samples, else 4 KiB.
 */
#ifndef LADE_MIXTURE_H
#define LADE_MIXTURE_H

#include <lade/source.h>

LADE_BEGIN

/* Limits of struct lade_source_mixture: sources, and their weights. */
#define LADE_MIXTURE_SOURCES_MAX 64u
#define LADE_MIXTURE_WEIGHT_MAX (UINT32_C(1) << 20) /* of the sum of all weights, without their common factor */

/* What happens when a source has delivered all its samples. */
enum lade_mixture_end {
    LADE_MIXTURE_REPEAT, /* its next round begins; the epoch ends when each source has been delivered completely once */
    LADE_MIXTURE_DROP,   /* the law restarts among the others; the epoch ends with the last source: each sample once */
    LADE_MIXTURE_STOP,   /* the epoch ends where its next sample would come */
};

/* The sources of a mixture and their weights. */
struct lade_source_mixture {
    struct lade_source *const *source; /* with one shape, or the same fields; not endless, not mixtures */
    const uint32_t *weight;            /* of each source */
    unsigned sources;                  /* number of source and weight */
    enum lade_mixture_end end;         /* default LADE_MIXTURE_REPEAT */
    bool owned;                        /* closing the mixture closes the sources */
    const struct lade_alloc *alloc;    /* default the C library's */
};

/*
 * Opens a mixture. The arrays are copied. Ragged fields get the longest ragged_max of the sources; the classes are
 * those of the source with most. On failure no source is closed.
 * LADE_OK
 * LADE_INVALID     no or too many sources, all weights 0 or their sum too large, or sources that do not go together;
 *                  the error names the source and what differs.
 * LADE_NO_MEMORY
 */
LADE_API LADE_MUST_CHECK int lade_source_open_mixture_sized(struct lade_source **source,
                                                            const struct lade_source_mixture *mixture, size_t size,
                                                            struct lade_error *error);
static inline LADE_MUST_CHECK int lade_source_open_mixture(struct lade_source **source,
                                                           const struct lade_source_mixture *mixture,
                                                           struct lade_error *error)
{
    return lade_source_open_mixture_sized(source, mixture, sizeof *mixture, error);
}

/*
 * Source and number there of sample id of a mixture.
 * LADE_OK
 * LADE_INVALID     not a mixture, or no such sample.
 */
LADE_API LADE_MUST_CHECK int lade_source_mixture_find(const struct lade_source *mixture, uint64_t id, unsigned *source,
                                                      uint64_t *number);

/* One source of a mixture, in a loader. Frozen, because arrays of it are written. */
struct lade_loader_share {
    const char *kind;           /* of the source */
    uint64_t samples;           /* of the source */
    uint32_t weight;            /* without the common factor */
    double target;              /* weight / sum of weights */
    uint64_t delivered, faults; /* samples, or parts of split ones, of this loader, since it was created */
    double epochs;              /* delivered / samples */
    double share;               /* delivered / samples delivered of all sources; 0 before the first */
};

struct lade_loader;

/*
 * Writes what each source of a mixture has delivered, up to most of them. Returns how many sources there are; 0: the
 * source of the loader is not a mixture. Threads as lade_loader_stats().
 */
LADE_API unsigned lade_loader_shares(const struct lade_loader *loader, struct lade_loader_share *to, unsigned most);

LADE_END

#endif

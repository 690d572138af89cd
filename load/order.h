/* SPDX-License-Identifier: MIT */
/*
 * The order of samples: the part of the source, shuffled for each epoch, divided among the shards. Pure functions of
 * the configuration and of a cursor, without threads. Internal.
 */
#ifndef LADE_LOAD_ORDER_H
#define LADE_LOAD_ORDER_H

#include "mixture.h"
#include "order_blocks.h"

#include <lade/loader.h>
#include <lade/random.h>

/* Numbers from..end - 1 are done. */
struct lade_range {
    uint64_t from, end;
};

struct lade_ranges {
    struct lade_range *range; /* disjoint, in rising order; memory for a power of two of them */
    size_t count;
};

/*
 * Runs of an epoch before this one whose deliveries are kept apart. Further ones, and all that are a few ranges together, are
 * merged into one.
 */
#define LADE_LEVELS_MAX 4

/* Deliveries of an earlier run's shards in this epoch: number x of the rest at that time went to shard x % shards. */
struct lade_level {
    unsigned shards;
    struct lade_ranges *shard; /* in the shard's own numbering */
};

/*
 * A position in the order. seen[0] counts members of the part before the position, seen[k] those that level k - 1 left
 * over; the last count numbers the members that are divided among the shards.
 */
struct lade_cursor {
    uint64_t epoch, place, seen[LADE_LEVELS_MAX + 1];
};
#define LADE_CURSOR_WORDS (sizeof(struct lade_cursor) / sizeof(uint64_t))

struct lade_order {
    struct lade_source *source;
    struct lade_split *split;
    unsigned part, shard, shards;
    bool pad, sequential;
    enum lade_draw_kind draw;
    const struct lade_alloc *alloc; /* NULL: the C library's */
    uint64_t seed;
    uint64_t places;  /* of an epoch, other than the first after a resume with other weights of a mixture */
    uint64_t members; /* of the part */
    /* The first epoch after a resume; it leaves out samples that this shard or others delivered before. */
    uint64_t first;
    struct lade_level level[LADE_LEVELS_MAX];
    unsigned levels;
    struct lade_ranges done;
    /*
     * Where the split routes by a field, or there are several shards: a bit for each sample, so that only the survey reads
     * the field or asks the split; else NULL.
     */
    uint64_t *in_part;
    uint64_t *few; /* with LADE_FAULT_SUBSTITUTE, the members of a part that has at most 65,536; else NULL */
    /* Draws with replacement: Walker's alias method (1977), a column for each member. */
    uint32_t *member, *alias, *limit, law; /* law: a checksum of them */
    /* A mixture: the law of an epoch, and that of the first epoch if it restarted there, after taken samples of each. */
    const struct lade_mixture *mixture; /* NULL: none */
    struct lade_mixture_law mix, restarted;
    uint64_t taken[LADE_MIXTURE_SOURCES_MAX];
};

#define LADE_AHEAD 64

/* State of a thread between calls; initially zero. */
struct lade_walk {
    struct lade_permutation permutation;
    struct lade_permutation_table *table; /* NULL: a small set, or out of memory, which only costs time */
    struct lade_block_walk blocks;        /* of a source with blocks, instead of permutation */
    uint64_t epoch, round;                /* round: of a source of a mixture */
    bool ready;
    uint64_t at, held, ahead[LADE_AHEAD]; /* elements of the permutation from position at on */
    struct lade_walk *each;               /* of the sources of a mixture; NULL: as for table */
};

void lade_walk_free(struct lade_walk *walk, const struct lade_alloc *alloc);

/* Counts the part. LADE_OK, LADE_INVALID, LADE_NO_MEMORY, or an error of the source. Free with lade_order_free(). */
int lade_order_init(struct lade_order *order, const struct lade_loader_config *config, struct lade_error *error);
void lade_order_free(struct lade_order *order);

void lade_ranges_free(struct lade_ranges *ranges, const struct lade_alloc *alloc);
void lade_level_free(struct lade_level *level, const struct lade_alloc *alloc);
bool lade_ranges_hold(const struct lade_ranges *ranges, uint64_t number);
/* Count of them from least on and below end. */
uint64_t lade_ranges_count(const struct lade_ranges *ranges, uint64_t least, uint64_t end);
/* Adds a range that begins at or after the end of the last one. */
int lade_ranges_add(struct lade_ranges *ranges, uint64_t from, uint64_t end, const struct lade_alloc *alloc);

/*
 * Adds to the numbers below total that were done before what the shards of a run did since, as they numbered the rest:
 * into an empty set of at most most ranges. LADE_OK, LADE_NO_MEMORY, or LADE_LIMITED: it takes more.
 */
int lade_ranges_merge(const struct lade_ranges *before, const struct lade_level *level, uint64_t total, size_t most,
                      struct lade_ranges *merged, const struct lade_alloc *alloc);

/* Count of the numbers below total that belong to a shard. */
static inline uint64_t lade_share_of(uint64_t total, unsigned shard, unsigned shards)
{
    return total > shard ? (total - shard - 1) / shards + 1 : 0;
}

/* Samples of this shard in the cursor's epoch: before the cursor, and after it. */
uint64_t lade_order_mine(const struct lade_order *order, const struct lade_cursor *cursor);
uint64_t lade_order_left(const struct lade_order *order, const struct lade_cursor *cursor);
/* Samples of an epoch, of all shards, delivered or not. */
uint64_t lade_order_total(const struct lade_order *order, uint64_t epoch);
/* Samples of this shard in an epoch. */
uint64_t lade_order_length(const struct lade_order *order, uint64_t epoch);

/* Moves to the start of the next epoch if fewer than least samples are left in this one. */
void lade_order_settle(const struct lade_order *order, struct lade_cursor *cursor, uint64_t least);

/* Whether the position after the next samples can be computed without a scan. */
bool lade_order_is_even(const struct lade_order *order, uint64_t epoch);
/* Moves past the next count samples of an even order. */
void lade_order_pass(const struct lade_order *order, struct lade_cursor *cursor, uint64_t count);

/* Lists the next count samples; count is at most the number left. */
void lade_order_take(const struct lade_order *order, struct lade_walk *walk, struct lade_cursor *cursor, uint64_t *ids,
                     uint64_t count);

/* Restarts the law of a mixture at a position of the first epoch. LADE_OK, LADE_NO_MEMORY, LADE_LIMITED. */
int lade_order_restart(struct lade_order *order, uint64_t position, const uint64_t *taken);

/*
 * Draws a member of the part uniformly to replace a sample, possibly the same one; attempts are numbered. Of a mixture:
 * from the same source.
 */
uint64_t lade_order_substitute(const struct lade_order *order, uint64_t epoch, uint64_t id, uint64_t attempt);

/* A checksum of source, split, part and draw, to detect states of another order. */
uint32_t lade_order_identity(const struct lade_order *order);

#endif

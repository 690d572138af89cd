/* SPDX-License-Identifier: MIT */
/*
 * split: which part of a data set an item belongs to (training, test, ...), decided once and the same for all threads.
 *
 * It takes the place of the two hash tables of Lin 2026. Up to 255 parts have integer weights; an item goes to part p with
 * probability weight[p] / sum of all weights.
 *
 * When not to use it: when the whole list is in memory and never grows (shuffle it with lade_permutation and cut).
 *
 * Rule         how a part is chosen when nothing is recorded yet
 *   hash       weighted rendezvous of the key and the seed, in integers. The same on every machine, in any order, for any
 *              number of threads. A weight that grows only draws items to its part, one that shrinks only sends some away.
 *   coin       a keyed coin against the weights, exact to the last bit of the generator. The same in any order, too; other
 *              weights or another seed give another split.
 *   quota      exact counts for each class and part: a token is drawn for each item that is decided. Exact at rest; a thread
 *              that stops inside route keeps one token. Depends on the order of arrival, and is not exact after a merge.
 * Store        what is remembered
 *   exact      every decision, in a lade_table. The first one wins, for all threads and for all runs that load the file.
 *              Two tables that decided apart can disagree: see merge. An item is known by 113 bits of a keyed hash: two of
 *              10^9 items are taken for one with probability 2^-54.
 *   pure       nothing; rule hash only. No memory, so nothing lasts when weights change.
 *   compact    two parts, rule coin: a filter of fixed capacity, 12.5 bits an item. An item is taken for another one and goes
 *              with it with a small probability that measure tells; its answer is stable all the same, and the coin is
 *              corrected so that the shares stay those of the weights.
 *   arrays     two parts, rule coin: the bit arrays of Lin 2026, with both bits of an item at one index: likewise stable and
 *              corrected. About 100 bits an item for 1 %.
 *
 * Group        items with the same group go to one part: the group is decided, as a key of its own, and counts once.
 * Content      items with the same content (bytes, or a digest of them) go to one part, or only the first is taken.
 * Conflict     when group, content and key are recorded with different parts, route says LADE_CONFLICT, or follows the rule
 *              of the configuration and counts it. A key that is recorded keeps its part.
 *
 * Threads      every function but create, load, destroy, merge and save may be called by any number of threads at once. With
 *              the exact store they call lade_thread_enter() first (lade/thread.h).
 * Progress     lock-free; pure is wait-free.
 * Ordering     exact: what a thread did before the route that decided happens before what a thread does that routes the same
 *              item later. The others: none.
 * Memory       exact: that of a table, one entry for each key, group and content; quota: 8 bytes more for each token and
 *              about 1 KiB for each class and thread. compact, arrays: allocated at creation.
 * Stopped      a thread that stops inside an operation hinders nobody: see table.h, and quota above.
 * Fork         a child may use its own copy; with the exact store as far as table.h says. What it decides, the parent does
 *              not learn: under the quota rule the two can decide the same item differently.
 */
#ifndef LADE_SPLIT_H
#define LADE_SPLIT_H

#include <lade/alloc.h>
#include <lade/api.h>
#include <lade/error.h>
#include <lade/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

#define LADE_SPLIT_PARTS_MAX 255u
#define LADE_SPLIT_CLASSES_MAX 65536u
#define LADE_SPLIT_THREADS_MAX 1024u
#define LADE_SPLIT_NO_PART UINT32_MAX

enum lade_split_rule { LADE_SPLIT_HASH, LADE_SPLIT_COIN, LADE_SPLIT_QUOTA };
enum lade_split_store { LADE_SPLIT_EXACT, LADE_SPLIT_PURE, LADE_SPLIT_COMPACT, LADE_SPLIT_ARRAYS };

/* What happens to an item whose content is recorded under another key. */
enum lade_split_content {
    LADE_SPLIT_FOLLOW, /* goes to the same part */
    LADE_SPLIT_DROP,   /* belongs to no part: LADE_PRESENT */
    LADE_SPLIT_REJECT, /* LADE_CONFLICT */
};

/* What happens when group and content, both recorded, name different parts. */
enum lade_split_conflict {
    LADE_SPLIT_REFUSE,       /* LADE_CONFLICT, and the item is not recorded */
    LADE_SPLIT_GROUP_WINS,   /* counted, and the item goes with its group */
    LADE_SPLIT_CONTENT_WINS, /* counted, and the item goes with its content */
};

/* Zero means the default where one is named. What pointers point to is copied, but for alloc. */
struct lade_split_config {
    unsigned parts;          /* 1 to LADE_SPLIT_PARTS_MAX; with equal weights these are the folds of a k-fold */
    const uint32_t *weights; /* one for each part, not all zero; NULL: all equal */
    enum lade_split_rule rule;
    enum lade_split_store store;
    uint64_t seed;                     /* any value is as good as another, 0 included */
    bool random_seed;                  /* draw one instead; lade_split_get_config() reports it as seed */
    enum lade_split_content content;   /* exact store only */
    enum lade_split_conflict conflict; /* exact store only */
    uint64_t capacity;                 /* compact, arrays: items. exact: makes room for so many at once; default none */
    unsigned bits_per_item;            /* arrays only, 2 to 1024; default 100 */
    unsigned classes;                  /* quota only: 1 to LADE_SPLIT_CLASSES_MAX */
    const uint64_t *quota;             /* quota only: quota[class * parts + part] items, at most 2^30 for a class */
    unsigned threads;                  /* quota only: that decide at a time, to LADE_SPLIT_THREADS_MAX; default 8 */
    bool uncorrected;               /* compact, arrays: as in the paper, for comparison; arrays: answers can change */
    const struct lade_alloc *alloc; /* not for the table; default aligned_alloc() and free() */
};

struct lade_split;

/*
 * *split is set on LADE_OK only. error may be NULL.
 * LADE_OK
 * LADE_INVALID     a number out of range, or fields that do not go together.
 * LADE_NO_MEMORY
 * LADE_IO          the system has no random seed, for random_seed or for the table.
 */
LADE_API LADE_MUST_CHECK int lade_split_create_sized(struct lade_split **split, const struct lade_split_config *config,
                                                     size_t size, struct lade_error *error);
static inline LADE_MUST_CHECK int lade_split_create(struct lade_split **split, const struct lade_split_config *config,
                                                    struct lade_error *error)
{
    return lade_split_create_sized(split, config, sizeof *config, error);
}

/* After all other threads have left. NULL is fine. */
LADE_API void lade_split_destroy(struct lade_split *split);

/* Any bytes. group and content are NULL when there is none. Without the exact store an item has one of them at most. */
struct lade_split_item {
    const void *key;
    size_t key_size;
    const void *group;
    size_t group_size;
    const void *content;
    size_t content_size;
    unsigned class_number; /* quota only */
};

/*
 * The part of an item; decides and records it when nobody has. What decides is the group, else the content, else the key.
 *
 * Unless it is LADE_OK, *part is LADE_SPLIT_NO_PART and the key is not recorded; a group or a content that was decided on the
 * way stays so.
 * LADE_OK
 * LADE_CONFLICT    as the configuration says.
 * LADE_PRESENT     as the configuration says.
 * LADE_INVALID     no key, or a class or name that the split does not have.
 * LADE_FULL        quota: the class has no token left. compact: no slot is left for this item. exact: sixteen names have
 *                  hashes with 60 equal bits (by chance this does not happen).
 * LADE_LIMITED     quota: the tokens left of the class are held by threads inside route; try again.
 * LADE_TOO_MANY    quota: more threads than config.threads.
 * LADE_NO_MEMORY   exact: as lade_table_insert().
 */
LADE_API LADE_MUST_CHECK int lade_split_route(struct lade_split *split, const struct lade_split_item *item,
                                              unsigned *part);

/* The same for an item with nothing but a key that is a number (its eight bytes, little endian). */
LADE_API LADE_MUST_CHECK int lade_split_route_word(struct lade_split *split, uint64_t key, unsigned *part);

/* What is recorded, or LADE_SPLIT_NO_PART. Content under LADE_SPLIT_DROP and LADE_SPLIT_REJECT: 0 when this item has it. */
struct lade_split_found {
    unsigned key, group, content;
};

/*
 * Decides nothing.
 * LADE_OK
 * LADE_ABSENT      the key is not recorded.
 * LADE_INVALID     no key, or another store than exact.
 */
LADE_API LADE_MUST_CHECK int lade_split_find(struct lade_split *split, const struct lade_split_item *item,
                                             struct lade_split_found *found);

/*
 * Records a part that was chosen elsewhere, as route would have. Not with quota.
 * LADE_OK          also when it is recorded so already.
 * LADE_CONFLICT    the key, or a name of it, is recorded with another part, which stays.
 * else             as route.
 */
LADE_API LADE_MUST_CHECK int lade_split_pin(struct lade_split *split, const struct lade_split_item *item,
                                            unsigned part);

/*
 * One of so many folds, each equally likely, for cross-validation inside a part: a pure function of seed and item that has
 * nothing to do with its part. Members of a group (or with the same content) share a fold. LADE_OK or LADE_INVALID.
 */
LADE_API LADE_MUST_CHECK int lade_split_fold(const struct lade_split *split, const struct lade_split_item *item,
                                             unsigned folds, unsigned *fold);

/* Shares n among the parts by weight, with remainders to the largest fractions (ties: the first parts): a row of quota. */
LADE_API LADE_MUST_CHECK int lade_split_shares(const uint32_t *weights, unsigned parts, uint64_t n, uint64_t *count);

struct lade_split_stats {
    uint64_t keys, groups, contents; /* recorded; exact store */
    uint64_t entries;                /* compact: held; arrays: bits set */
    uint64_t conflicts, dropped;     /* answers since creation */
    uint64_t bytes;                  /* of table, filter or arrays */
    /* compact, arrays: of the next item that is not there yet, computed from what is. */
    double collision;   /* probability that it is taken for another one */
    double misassigned; /* ... and goes to another part than its own coin says */
    double share;       /* probability that it goes to part 0; weights say share of weight 0 */
};

/* Goes over the whole store. part_keys (may be NULL) has room for a number of keys for each part; exact store. */
LADE_API int lade_split_stats_sized(struct lade_split *split, struct lade_split_stats *stats, size_t size,
                                    uint64_t *part_keys);
static inline int lade_split_stats(struct lade_split *split, struct lade_split_stats *stats, uint64_t *part_keys)
{
    return lade_split_stats_sized(split, stats, sizeof *stats, part_keys);
}

/* The configuration in use, with the seed that was drawn, if one was. Pointers are valid as long as the split. */
LADE_API void lade_split_get_config_sized(const struct lade_split *split, struct lade_split_config *config,
                                          size_t size);
static inline void lade_split_get_config(const struct lade_split *split, struct lade_split_config *config)
{
    lade_split_get_config_sized(split, config, sizeof *config);
}

enum lade_split_kind { LADE_SPLIT_KEY = 1, LADE_SPLIT_GROUP, LADE_SPLIT_CONTENT };

/* Two splits disagree on a name. Its key is not stored, only a hash; lade_split_hash() tells that of an item's key. */
struct lade_split_difference {
    uint64_t hash;
    enum lade_split_kind kind;
    unsigned part, other; /* before, and in the other split */
    unsigned chosen;
};

/*
 * Adds the decisions of another split with the same seed and parts; both exact, neither in use. On a difference the part
 * with the smallest PRF(salt, name, part) is chosen, so that the result does not depend on who is merged with whom, in which
 * order, how often. tell (may be NULL) is called for each difference. tell, differences and error may be NULL.
 * LADE_OK
 * LADE_CONFLICT    there are differences, resolve is false, and nothing was changed.
 * LADE_INVALID     not exact, or of different seeds, parts or policies for contents.
 * LADE_NO_MEMORY   decisions of the other split may be missing; merging again adds them.
 * LADE_FULL        as lade_split_route() on an exact split; likewise.
 */
typedef void lade_split_tell(void *context, const struct lade_split_difference *difference);
LADE_API LADE_MUST_CHECK int lade_split_merge(struct lade_split *into, struct lade_split *from, uint64_t salt,
                                              bool resolve, lade_split_tell *tell, void *context, uint64_t *differences,
                                              struct lade_error *error);

/* The hash by which a key is known. */
LADE_API uint64_t lade_split_hash(const struct lade_split *split, const void *key, size_t size);

/*
 * Save and load: parameters and decisions, versioned, with checksums, the same on every machine. The file is replaced whole
 * or not at all. Save when no one routes; a pure split is saved as its parameters. 16.1 bytes for each name. *split is set on
 * LADE_OK only. A damaged file costs no more memory than it has bytes, but for quota: 8 to 9 bytes for each token that is
 * left, and 1 KiB for each class with tokens and each thread (plus one). A short file can ask for much of it: load refuses more
 * than LADE_SPLIT_LOAD_BYTES for tokens before it allocates them; load_limited has the limit as an argument. error may be NULL.
 * LADE_OK
 * LADE_IO          errno and the error say why.
 * LADE_NO_MEMORY
 * LADE_DAMAGED     load: error->offset is where the first wrong part of the file begins.
 * LADE_INVALID     load: written by a later version.
 * LADE_LIMITED     load: more bytes for tokens than the limit.
 */
#define LADE_SPLIT_LOAD_BYTES (UINT64_C(1) << 30)

LADE_API LADE_MUST_CHECK int lade_split_save(struct lade_split *split, const char *path, struct lade_error *error);
LADE_API LADE_MUST_CHECK int lade_split_load(struct lade_split **split, const char *path,
                                             const struct lade_alloc *alloc, struct lade_error *error);
LADE_API LADE_MUST_CHECK int lade_split_load_limited(struct lade_split **split, const char *path,
                                                     const struct lade_alloc *alloc, uint64_t token_bytes,
                                                     struct lade_error *error);

/* Chi-square tests of counts, count[class * parts + part]. p: the probability of what was seen, or more, by chance alone. */
struct lade_split_tests {
    double classes, classes_df, classes_p; /* the parts have the same class frequencies */
    double shares, shares_df, shares_p;    /* the parts' sizes are those of the weights */
    double least;                          /* smallest expected count; below 5 the p-values are rough */
};

/*
 * weights NULL: equal. Empty classes and parts of weight 0 are left out.
 * LADE_OK
 * LADE_INVALID     no parts or classes.
 */
LADE_API LADE_MUST_CHECK int lade_split_audit_sized(const uint64_t *count, unsigned classes, unsigned parts,
                                                    const uint32_t *weights, struct lade_split_tests *audit,
                                                    size_t size);
static inline LADE_MUST_CHECK int lade_split_audit(const uint64_t *count, unsigned classes, unsigned parts,
                                                   const uint32_t *weights, struct lade_split_tests *audit)
{
    return lade_split_audit_sized(count, classes, parts, weights, audit, sizeof *audit);
}

LADE_END

#endif

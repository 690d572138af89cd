/* SPDX-License-Identifier: MIT */
/*
 * split: assigns each item of a data set to a part (training, test, ...). The assignment is decided once and is the
 * same for all threads.
 *
 * It replaces the two hash tables of Lin 2026. Up to 255 parts have integer weights; an item goes to part p with
 * probability weight[p] / sum of all weights.
 *
 * When not to use it: when the whole list is in memory and never grows (shuffle it with lade_permutation and cut it).
 *
 * Rule         how a part is chosen if none is recorded yet
 *   hash       weighted rendezvous of the key and the seed, in integers. The result is the same on every machine, in
 *              any order, for any number of threads. Increasing a weight only moves items to its part; decreasing it
 *              only moves items away.
 *   coin       a keyed coin against the weights, exact to the last bit of the generator. The result is also the same in
 *              any order. Other weights or another seed give a different split.
 *   quota      exact counts for each class and part: each item that is decided draws a token. Exact when quiescent; a
 *              thread that stops inside route keeps one token. Depends on the order of arrival, and is not exact after
 *              a merge.
 * Store        what is recorded
 *   exact      every decision, in a lade_table. The first decision wins, for all threads and for all runs that load the
 *              file. Two tables that decided separately can disagree: see merge. An item is identified by 113 bits of a
 *              keyed hash: the probability that any two of 10^9 items are confused is 2^-54.
 *   pure       nothing; rule hash only. It takes no memory, so decisions do not persist when weights change.
 *   compact    two parts, rule coin: a filter of fixed capacity, 12.5 bits per item. With a small probability, which
 *              stats reports, an item is confused with another one and goes to the same part. Its part is stable
 *              nevertheless, and the coin is corrected so that the shares match the weights.
 *   arrays     two parts, rule coin: the bit arrays of Lin 2026, with both bits of an item at one index. Also stable
 *              and corrected. About 100 bits per item for 1 %.
 *
 * Group        items with the same group go to one part: the group is decided as a separate key, and counts once.
 * Content      items with the same content (bytes, or a digest of them) go to one part, or only the first is accepted.
 * Conflict     if two of key, group and content are recorded with different parts, the conflict is counted, and route
 *              returns LADE_CONFLICT or a part, see lade_split_conflict. What is recorded keeps its part.
 *
 * Threads      any number of threads may call every function at the same time, except create, load, destroy, merge and
 *              save. With the exact store they call lade_thread_enter() first (lade/thread.h).
 * Progress     lock-free; pure is wait-free.
 * Ordering     exact: everything that a thread did before the route that decided an item happens before everything that
 *              another thread does after it later routes the same item. Other stores: none.
 * Memory       exact: that of a table with one entry for each key, group and content; quota: 8 more bytes for each
 *              token and about 1 KiB for each class and thread. compact, arrays: allocated at creation.
 * Stopped      a thread that stops inside an operation blocks no other thread: see table.h, and quota above.
 * Fork         a child may use its own copy; with the exact store, see Fork in table.h. The parent does not see the
 *              decisions of the child: under the quota rule, the two can decide the same item differently.
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

/* Limits of struct lade_split_config: parts, classes and threads. */
#define LADE_SPLIT_PARTS_MAX 255u
#define LADE_SPLIT_CLASSES_MAX 65536u
#define LADE_SPLIT_THREADS_MAX 1024u

/* In place of a part: there is none. */
#define LADE_SPLIT_NO_PART UINT32_MAX

/* How a part is chosen if none is recorded, see Rule above. */
enum lade_split_rule {
    LADE_SPLIT_HASH,  /* weighted rendezvous of key and seed */
    LADE_SPLIT_COIN,  /* a keyed coin against the weights */
    LADE_SPLIT_QUOTA, /* exact counts for each class and part */
};

/* What is recorded, see Store above. */
enum lade_split_store {
    LADE_SPLIT_EXACT,   /* every decision, in a table */
    LADE_SPLIT_PURE,    /* nothing; rule hash only */
    LADE_SPLIT_COMPACT, /* a filter of fixed capacity; two parts, rule coin */
    LADE_SPLIT_ARRAYS,  /* the bit arrays of Lin 2026; two parts, rule coin */
};

/* What happens to an item whose content is recorded under another key. */
enum lade_split_content {
    LADE_SPLIT_FOLLOW, /* the item goes to the same part */
    LADE_SPLIT_DROP,   /* the item belongs to no part: LADE_PRESENT */
    LADE_SPLIT_REJECT, /* LADE_CONFLICT */
};

/*
 * What happens if two of key, group and content are recorded with different parts; or if the key is recorded, and its
 * content for another key (LADE_SPLIT_DROP, LADE_SPLIT_REJECT). The conflict is counted in each case.
 */
enum lade_split_conflict {
    LADE_SPLIT_REFUSE,       /* LADE_CONFLICT, and the key is not recorded if it was not */
    LADE_SPLIT_GROUP_WINS,   /* the part of the key if that is recorded, else of the group */
    LADE_SPLIT_CONTENT_WINS, /* the part of the key if that is recorded, else of the content */
};

/* Zero means the default where one is named. Everything that pointers refer to is copied, except alloc. */
struct lade_split_config {
    unsigned parts;                  /* 1 to LADE_SPLIT_PARTS_MAX; with equal weights these are the folds of a k-fold */
    const uint32_t *weights;         /* one for each part, not all zero; NULL: all equal */
    enum lade_split_rule rule;       /* default hash */
    enum lade_split_store store;     /* default exact */
    uint64_t seed;                   /* every value is equally good, 0 included */
    bool random_seed;                /* draw a random seed instead; lade_split_get_config() reports it as seed */
    enum lade_split_content content; /* exact store only */
    enum lade_split_conflict conflict; /* exact store only */
    uint64_t capacity;                 /* compact, arrays: items. exact: items to reserve at creation; default none */
    unsigned bits_per_item;            /* arrays only, 2 to 1024; default 100 */
    unsigned classes;                  /* quota only: 1 to LADE_SPLIT_CLASSES_MAX */
    const uint64_t *quota;             /* quota only: quota[class * parts + part] items, at most 2^30 for a class */
    unsigned threads; /* quota only: threads that decide at a time, to LADE_SPLIT_THREADS_MAX; default 8 */
    bool uncorrected; /* compact, arrays: as in Lin 2026, for comparison; arrays: a part can change */
    const struct lade_alloc *alloc; /* not for the table; default aligned_alloc() and free() */
};

/* A split. */
struct lade_split;

/*
 * Creates a split. *split is set on LADE_OK only. error may be NULL.
 * LADE_OK
 * LADE_INVALID     a number out of range, or an invalid combination of fields.
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

/* Destroys a split that no other thread uses. NULL is allowed. */
LADE_API void lade_split_destroy(struct lade_split *split);

/*
 * An item. Key, group and content are arbitrary bytes. group and content are NULL if there is none. Without the exact
 * store, an item has at most one of group and content. Frozen.
 */
struct lade_split_item {
    const void *key;       /* what identifies the item */
    size_t key_size;       /* bytes of key */
    const void *group;     /* all items of a group go to one part */
    size_t group_size;     /* bytes of group */
    const void *content;   /* items with the same content go to one part */
    size_t content_size;   /* bytes of content */
    unsigned class_number; /* quota only */
};

/*
 * Stores the part of an item; decides and records it if it is not yet recorded. The decision is made for the group if
 * there is one, else for the content, else for the key.
 *
 * On any other status than LADE_OK, *part is LADE_SPLIT_NO_PART and the key is not recorded; a group or a content that
 * this call has already decided stays decided.
 * LADE_OK
 * LADE_CONFLICT    see lade_split_content and lade_split_conflict.
 * LADE_PRESENT     see LADE_SPLIT_DROP.
 * LADE_INVALID     no key, or a class or name that the split does not have.
 * LADE_FULL        quota: the class has no token left. compact: no slot is left for this item. exact: sixteen names
 *                  have hashes with 60 equal bits (this does not happen by chance).
 * LADE_LIMITED     quota: the remaining tokens of the class are held by threads inside route; try again.
 * LADE_TOO_MANY    quota: more threads than config.threads.
 * LADE_NO_MEMORY   exact: as lade_table_insert().
 */
LADE_API LADE_MUST_CHECK int lade_split_route(struct lade_split *split, const struct lade_split_item *item,
                                              unsigned *part);

/* The same for an item that has only a key, which is a number (its eight bytes, little endian). */
LADE_API LADE_MUST_CHECK int lade_split_route_word(struct lade_split *split, uint64_t key, unsigned *part);

/*
 * The recorded parts, or LADE_SPLIT_NO_PART. Under LADE_SPLIT_DROP and LADE_SPLIT_REJECT, content is 0 if it is
 * recorded for this item. Frozen.
 */
struct lade_split_found {
    unsigned key, group, content; /* the part that is recorded for each name of the item */
};

/*
 * Looks up what is recorded; decides nothing.
 * LADE_OK
 * LADE_ABSENT      the key is not recorded.
 * LADE_INVALID     no key, or a store other than exact.
 */
LADE_API LADE_MUST_CHECK int lade_split_find(struct lade_split *split, const struct lade_split_item *item,
                                             struct lade_split_found *found);

/*
 * Records a part that was chosen elsewhere, as route would have. Not with quota.
 * LADE_OK          also if the same part is already recorded.
 * LADE_CONFLICT    the key, or another name of the item, is recorded with a different part, which stays.
 * else             as route.
 */
LADE_API LADE_MUST_CHECK int lade_split_pin(struct lade_split *split, const struct lade_split_item *item,
                                            unsigned part);

/*
 * Stores a fold number below folds, each equally likely, for cross-validation inside a part. The fold is a pure
 * function of seed and item, independent of the part. Items with the same group (or the same content) share a fold.
 * LADE_OK
 * LADE_INVALID     folds is 0, or an item that route would reject as invalid.
 */
LADE_API LADE_MUST_CHECK int lade_split_fold(const struct lade_split *split, const struct lade_split_item *item,
                                             unsigned folds, unsigned *fold);

/*
 * Divides n among the parts by weight, with the remainders to the largest fractions (ties: the first parts). The result
 * is a row of quota. weights NULL: equal.
 * LADE_OK
 * LADE_INVALID     a number out of range, all weights are zero, or count is NULL.
 */
LADE_API LADE_MUST_CHECK int lade_split_shares(const uint32_t *weights, unsigned parts, uint64_t n, uint64_t *count);

/* What is recorded, and how exact the shares are. */
struct lade_split_stats {
    uint64_t keys, groups, contents; /* recorded; exact store */
    uint64_t entries;                /* compact: held; arrays: bits set */
    uint64_t conflicts, dropped;     /* counted by route and pin since creation */
    uint64_t bytes;                  /* of table, filter or arrays */
    /* compact, arrays: for the next item that is not yet recorded, computed from the contents. */
    double collision;   /* probability that it is confused with another item */
    double misassigned; /* ... and goes to a part that differs from the result of its coin */
    double share;       /* probability that it goes to part 0; the weights demand the share of weight 0 */
};

/*
 * Scans the whole store. part_keys (may be NULL) has one element per part, for the number of keys in it; exact store.
 * LADE_OK
 * LADE_NO_MEMORY   exact: as lade_table_for_each(); keys, groups and contents are 0.
 */
LADE_API int lade_split_stats_sized(struct lade_split *split, struct lade_split_stats *stats, size_t size,
                                    uint64_t *part_keys);
static inline int lade_split_stats(struct lade_split *split, struct lade_split_stats *stats, uint64_t *part_keys)
{
    return lade_split_stats_sized(split, stats, sizeof *stats, part_keys);
}

/*
 * Stores the configuration in use, with the random seed if one was drawn. Its pointers are valid as long as the split.
 */
LADE_API void lade_split_get_config_sized(const struct lade_split *split, struct lade_split_config *config,
                                          size_t size);
static inline void lade_split_get_config(const struct lade_split *split, struct lade_split_config *config)
{
    lade_split_get_config_sized(split, config, sizeof *config);
}

/* Which name of an item. */
enum lade_split_kind {
    LADE_SPLIT_KEY = 1, /* lade_split_item.key */
    LADE_SPLIT_GROUP,   /* lade_split_item.group */
    LADE_SPLIT_CONTENT, /* lade_split_item.content */
};

/*
 * A name on which two splits disagree. The key is not stored, only a hash; lade_split_hash() returns the hash of an
 * item's key. Read it in place.
 */
struct lade_split_difference {
    uint64_t hash;             /* of the name */
    enum lade_split_kind kind; /* which name */
    unsigned part, other;      /* in this split before the merge, and in the other split */
    unsigned chosen;           /* the part that it has after the merge */
};

/*
 * Adds the decisions of another split with the same seed and parts. Both must be exact, and no thread may use them. On
 * a difference, the part with the smallest PRF(salt, name, part) is chosen. So the result does not depend on which
 * split is merged into which, in which order, or how often. The callback is called for each difference. The callback,
 * differences and error may be NULL.
 * LADE_OK
 * LADE_CONFLICT    there are differences, resolve is false, and nothing was changed.
 * LADE_INVALID     not exact, or different seeds, parts or policies for contents.
 * LADE_NO_MEMORY   decisions of the other split may be missing; merging again adds them.
 * LADE_FULL        as lade_split_route() on an exact split; decisions may be missing as for LADE_NO_MEMORY.
 */
typedef void lade_split_report(void *context, const struct lade_split_difference *difference);
LADE_API LADE_MUST_CHECK int lade_split_merge(struct lade_split *into, struct lade_split *from, uint64_t salt,
                                              bool resolve, lade_split_report *report, void *context,
                                              uint64_t *differences, struct lade_error *error);

/* Returns the hash that identifies a key. */
LADE_API uint64_t lade_split_hash(const struct lade_split *split, const void *key, size_t size);

/* Bytes that lade_split_load() allocates for tokens at most. */
#define LADE_SPLIT_LOAD_BYTES (UINT64_C(1) << 30)

/*
 * Save and load: parameters and decisions, versioned, with checksums, the same on every machine. The file is replaced
 * completely or not at all. Save only while no thread routes. A pure split is saved as its parameters. A name takes
 * 16.1 bytes. *split is set on LADE_OK only. error may be NULL.
 *
 * Loading a damaged file allocates no more memory than the file has bytes, except for quota: 8 to 9 bytes for each
 * remaining token, and 1 KiB for each class with tokens and each thread (plus one). A short file can request much of
 * it. Therefore load refuses more than LADE_SPLIT_LOAD_BYTES for tokens before it allocates them; load_limited takes
 * the limit as an argument.
 * LADE_OK
 * LADE_IO          errno and the error give the reason.
 * LADE_NO_MEMORY
 * LADE_DAMAGED     load: error->offset is the beginning of the first wrong part of the file.
 * LADE_INVALID     load: written by a later version.
 * LADE_LIMITED     load: more bytes for tokens than the limit.
 */
LADE_API LADE_MUST_CHECK int lade_split_save(struct lade_split *split, const char *path, struct lade_error *error);
LADE_API LADE_MUST_CHECK int lade_split_load(struct lade_split **split, const char *path,
                                             const struct lade_alloc *alloc, struct lade_error *error);
LADE_API LADE_MUST_CHECK int lade_split_load_limited(struct lade_split **split, const char *path, uint64_t token_bytes,
                                                     const struct lade_alloc *alloc, struct lade_error *error);

/*
 * Chi-square tests of count[class * parts + part]. p: the probability that chance alone gives a deviation at least as
 * large.
 */
struct lade_split_tests {
    double classes, classes_df, classes_p; /* hypothesis: all parts have the same class frequencies */
    double shares, shares_df, shares_p;    /* hypothesis: the sizes of the parts match the weights */
    double least;                          /* smallest expected count; below 5 the p-values are rough */
};

/*
 * Computes the tests. weights NULL: equal. Empty classes and parts of weight 0 are left out.
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

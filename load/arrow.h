/* SPDX-License-Identifier: MIT */
/* Columns of Arrow arrays as fields: for the C stream interface and for Parquet. Internal. */
#ifndef LADE_LOAD_ARROW_H
#define LADE_LOAD_ARROW_H

#include "members.h"

#include <lade/arrow.h>

#define LADE_ARROW_DEPTH 4 /* structs around a column, the table included */
#define LADE_ARROW_ENTRIES_MAX (UINT32_C(1) << 24)

/* How a column of the schema becomes a field. */
struct lade_arrow_type {
    char name[LADE_FIELD_NAME_MAX + 1];
    struct lade_value_field value; /* the field, and how images are decoded */
    unsigned depth;                /* of path: children of the table, of a struct in it, ... */
    uint32_t path[LADE_ARROW_DEPTH];
    unsigned top;        /* number of path[0] among the columns of the table that are used */
    bool is_list, wide;  /* ragged; offsets have 8 bytes, else 4 */
    bool is_bytes;       /* a list whose values lie in the array itself: strings and binary */
    bool is_image;       /* is_bytes, but the field is fixed */
    bool is_bits;        /* elements are bits */
    bool is_dictionary;  /* elements are numbers of entries */
    enum lade_dtype raw; /* of the elements in memory */
    unsigned levels;     /* fixed-size lists around an element */
    uint64_t size[LADE_FIELD_DIMS_MAX];
    uint64_t slot;  /* elements of one slot of the innermost array: bytes of fixed-size binary, else 1 */
    uint64_t items; /* elements of a step */
    uint8_t fill[16];
    /* Names of a dictionary, in the order of first appearance, and a hash table of their numbers + 1. */
    char **names;
    uint32_t *hash, entries, spaces;
};

/* Validity: element e, or row e, is bit first + e / per; 0: null. */
struct lade_arrow_bits {
    const uint8_t *bits;
    uint64_t first, per;
};

/* A column of a record batch, checked. Elements are counted from the first row, or from step 0 of a list. */
struct lade_arrow_piece {
    const uint8_t *values, *offsets;
    uint64_t first; /* element 0 in values */
    struct lade_arrow_bits row[LADE_ARROW_DEPTH + 1], item[LADE_FIELD_DIMS_MAX + 1];
    unsigned rows, items; /* of these arrays that have nulls at all */
    uint32_t *map;        /* dictionary: numbers of the entries, UINT32_MAX for null; else NULL */
    uint64_t entries;
};

/* A record batch. */
struct lade_arrow_block {
    struct ArrowArray array;        /* release is NULL: not in memory */
    struct lade_arrow_piece *piece; /* one for each column */
    uint64_t all, rows, bytes;      /* rows, those that are samples, and bytes of all columns in memory */
    uint32_t *kept;                 /* rows that are samples; NULL: all */
};

/* Record batches that are read again when they are needed: see arrow_cache.c. */
struct lade_arrow_cache;

/* Where they come from. fetch may be called by several threads, for different batches. */
struct lade_arrow_feed {
    int (*fetch)(void *self, uint64_t block, struct ArrowArray *array, struct lade_error *error);
    void (*close)(void *self);
    void *self;
    bool in_order; /* arrays have the columns of lade_arrow.top only, in that order; else all */
};

struct lade_arrow {
    const char *kind;
    char *file; /* for messages */
    const struct lade_alloc *alloc;
    enum lade_nulls nulls;
    struct ArrowSchema schema;
    struct lade_arrow_type column[LADE_FIELDS_MAX];
    unsigned columns;
    uint32_t top[LADE_FIELDS_MAX]; /* columns of the table */
    unsigned tops;
    struct lade_arrow_block *block;
    uint64_t blocks, space;
    uint64_t *first;           /* sample of each block, and the number of all */
    uint64_t *size;            /* bytes of each block */
    uint64_t bytes;            /* of all blocks */
    double block_each;         /* blocks by samples */
    uint64_t classes, largest; /* of the label */
    struct lade_schema roles;
    struct lade_field field[LADE_FIELDS_MAX];
    struct lade_arrow_cache *cache;    /* NULL: all blocks stay */
    struct lade_arrow_feed feed;       /* of the cache */
    uint32_t *length[LADE_FIELDS_MAX]; /* of each sample in a ragged column, with a cache */
    uint64_t lengths;                  /* memory for this many */
    struct lade_blocks order;          /* with a cache that does not hold all */
    enum lade_index_use index_use;
    char *index_file;
};

/* Sets columns from the schema, and the roles. */
int lade_arrow_choose(struct lade_arrow *t, const struct lade_source_arrow *config, struct lade_error *error);

/*
 * Checks a record batch against the schema, and fills block, which owns the array afterwards, also on failure. child: the
 * column of the array for each of the table's that are used, UINT32_MAX for one that the array lacks. number is for
 * messages. grow: names that are new in a dictionary are added, else they are damage.
 */
int lade_arrow_resolve(struct lade_arrow *t, struct lade_arrow_block *block, struct ArrowArray *array,
                       const uint32_t *child, uint64_t number, bool grow, struct lade_error *error);
/* Releases the array; what is known of its rows stays. */
void lade_arrow_drop(struct lade_arrow *t, struct lade_arrow_block *block);

/* Whether row is null in a column, itself or an element of it. */
bool lade_arrow_is_null(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *piece,
                        uint64_t row);
/* Steps of a ragged column; 0 for a null. */
uint64_t lade_arrow_length(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *piece,
                           uint64_t row);
/* Where the steps of a row begin. */
uint64_t lade_arrow_begin(const struct lade_arrow_type *type, const struct lade_arrow_piece *piece, uint64_t row);
/* Reads a part of a row. A null is LADE_DAMAGED, or filled. sample is for messages. */
int lade_arrow_read(const struct lade_arrow *t, unsigned column, const struct lade_arrow_piece *piece, uint64_t row,
                    uint64_t sample, const struct lade_view *view, struct lade_error *error);

/*
 * Adds a block, which is resolved: its rows that are samples, the largest label, the longest lists, the size of images.
 * indexed: also lengths of its samples, so that it can be dropped. A block of which some columns are not there is measured
 * by those that are; bytes is the size of the whole.
 */
int lade_arrow_measure(struct lade_arrow *t, struct lade_arrow_block *block, const uint32_t *child, bool indexed,
                       uint64_t bytes, struct lade_error *error);
/*
 * Memory for one more block, of some samples and, indexed, their lengths; then adds it with its rows and their bytes, when
 * all else of it is known.
 */
bool lade_arrow_make_room(struct lade_arrow *t, uint64_t samples, bool indexed);
void lade_arrow_add_block(struct lade_arrow *t, const struct lade_arrow_block *block, uint64_t bytes);

/* What measuring has found out, for an index file: of indexed blocks. */
void lade_arrow_put(const struct lade_arrow *t, struct lade_index_writer *writer);
/* Adds the blocks, which have rows(self, b) rows. After false t is unchanged. */
bool lade_arrow_take(struct lade_arrow *t, struct lade_index_reader *reader, uint64_t blocks,
                     uint64_t (*rows)(const void *self, uint64_t block), const void *self);
/* Makes the source. window, memory: with a feed, as in struct lade_source_arrow. Frees t on failure. */
int lade_arrow_source(struct lade_source **source, struct lade_arrow *t, const struct lade_source_arrow *config,
                      bool rising, uint32_t identity, struct lade_error *error);
/* Frees everything. */
void lade_arrow_close(void *self);

/* A cache of count slots. */
int lade_arrow_cache_create(struct lade_arrow *t, uint64_t count, struct lade_error *error);
void lade_arrow_cache_free(struct lade_arrow *t);
/* The pieces of a block, until release. is_busy: it, or every slot, is in use by other threads; not an error. */
int lade_arrow_acquire(struct lade_arrow *t, uint64_t block, bool wait, bool *is_busy,
                       const struct lade_arrow_piece **piece, struct lade_error *error);
/* Those of the blocks that are in memory, until release; NULL for the others. */
int lade_arrow_acquire_present(struct lade_arrow *t, const uint64_t *block, const struct lade_arrow_piece **piece,
                               uint64_t count, struct lade_error *error);
/* Of those blocks whose piece is not NULL. */
void lade_arrow_release(struct lade_arrow *t, const uint64_t *block, const struct lade_arrow_piece *const *piece,
                        uint64_t count);

/* Number of a name; UINT32_MAX: it is not there, and not to be added; UINT32_MAX - 1: out of memory, or too many. */
uint32_t lade_arrow_name(const struct lade_arrow *t, struct lade_arrow_type *column, const char *name, size_t length,
                         bool grow);
void lade_arrow_drop_names(const struct lade_arrow *t, struct lade_arrow_type *column);

#endif

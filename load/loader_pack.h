/* SPDX-License-Identifier: MIT */
/*
 * Packed batches. The members of the part, in the order of an epoch, are cut into windows of config.pack_window samples.
 * The samples of a window are packed into rows, and these are permuted; both follow from the lengths, the seed, the epoch
 * and the window alone. So the rows of an epoch have numbers, and row x of those that are not done goes to shard
 * x % shards. A round is one row for each shard; a shard without a row in the last round gets an empty one. Internal.
 */
#ifndef LADE_LOAD_LOADER_PACK_H
#define LADE_LOAD_LOADER_PACK_H

#include "fields.h"
#include "pack.h"

#include <string.h>

/*
 * A position: a row that is not done, with which a round begins. All shards have the same positions. Stored as a
 * lade_cursor, whose first word is the epoch as well.
 */
struct lade_pack_cursor {
    uint64_t epoch;
    uint64_t place, members; /* of the order, where the window begins */
    uint32_t row, law;       /* of the window; a checksum of its lengths, to detect that they changed */
    uint64_t number;         /* of the row */
    uint64_t round;          /* rounds before it */
    uint64_t before;         /* at the start of an epoch: rounds of the epoch before */
};

/* A sample in a row, or a part of one. */
struct lade_piece {
    uint64_t id, from;
    uint32_t length;
    bool cut, split;
    bool faulty; /* it has no length, or one that no row takes; it has a row to itself */
};

/* Packed batches of a loader. */
struct lade_pack {
    uint32_t steps, most; /* of a row; samples of a row */
    uint64_t window;
    enum lade_longer longer;
    struct lade_order order; /* of all shards together, without what is done; shares the memory of the loader's order */
    uint64_t dropped;        /* before the first batch */
    char guarantee[256];
};

/* A window after packing: row r has the pieces from begin[r] to begin[r + 1] - 1. */
struct lade_pack_window {
    bool is_valid;
    uint64_t epoch, members;  /* where it begins */
    struct lade_cursor after; /* of the order */
    uint32_t rows, law;
    uint64_t dropped;
    struct lade_piece *piece;
    uint32_t *begin;
};

/* Of a worker. */
struct lade_pack_work {
    struct lade_pack_window window; /* the last one */
    struct lade_packer packer;
    uint64_t *ids;
    struct lade_piece *found; /* pieces of a window before they are placed */
    uint32_t *length;
    size_t found_max;
    struct lade_walk walk;
    /* Of the batch that it makes: row r has the pieces from begin[r] to begin[r + 1] - 1. */
    struct lade_piece *piece;
    uint32_t *begin;
    uint64_t dropped;
    int status;
    struct lade_error error;
};

/* Sets the text of the guarantee, which depends on the order. */
void lade_pack_describe(struct lade_loader *l);
/* The window that begins at these members of the part. LADE_OK, LADE_NO_MEMORY or LADE_LIMITED; then *error is set. */
int lade_pack_window(const struct lade_loader *l, struct lade_pack_work *w, const struct lade_pack_cursor *at,
                     struct lade_error *error);
bool lade_pack_work_init(const struct lade_loader *l, struct lade_pack_work *w);
void lade_pack_work_free(const struct lade_loader *l, struct lade_pack_work *w);

static inline struct lade_pack_cursor lade_pack_cursor_of(const struct lade_cursor *cursor)
{
    struct lade_pack_cursor c;

    _Static_assert(sizeof c <= sizeof *cursor, "a plan record holds a position");
    memcpy(&c, cursor, sizeof c);
    return c;
}

#endif

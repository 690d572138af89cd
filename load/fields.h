/* SPDX-License-Identifier: MIT */
/* Fields as tensors of a batch. Shared by loader_fields.c and loader_pack.c. Internal. */
#ifndef LADE_LOAD_FIELDS_H
#define LADE_LOAD_FIELDS_H

#include "loader.h"

#define BYTES_MAX (SIZE_MAX / 4)

/* A field that is delivered: tensor number i for column i. */
struct column {
    const struct lade_field *field;
    unsigned number;  /* of the field in the schema */
    size_t step;      /* bytes of a step; of a fixed field: of a row */
    bool is_ragged;   /* all below is for ragged fields */
    unsigned lengths; /* tensor of the lengths or offsets */
    bool is_joined;   /* concatenated */
    bool is_packed;   /* in rows, with the other packed columns; then no tensor holds its lengths */
    bool wide, cut;
    uint64_t max, total, multiple; /* total 0: none */
    uint64_t bucket[LADE_BUCKETS_MAX];
    unsigned buckets;
    size_t element;
    uint8_t padding[16]; /* one element */
    bool pads_zeros;
};

struct lade_fields {
    struct column column[LADE_TENSORS_MAX];
    unsigned columns;
    bool is_ragged, is_limited; /* a column is; has a total */
    unsigned segments;          /* packed: tensor of the segment ids; positions and offsets of samples follow it */
    bool wide;                  /* of these tensors */
    int label;                  /* field of the schema */
    unsigned schema;            /* fields of the schema */
    struct lade_tensor_info info[LADE_TENSORS_MAX];
    size_t block; /* bytes */
};

/* Size of a tensor in a block. */
size_t lade_fields_align(size_t bytes);
/* Writes padding to this many bytes. */
void lade_column_pad(const struct column *c, uint8_t *to, size_t bytes);
/* Stores element i of lengths, offsets, segments or positions, which begin at to. */
void lade_fields_store(uint8_t *to, bool wide, uint64_t i, uint64_t value);
/*
 * Reads a sample into views, its label to entry number row, and transforms the field of the pipeline to output; NULL: no
 * field is. LADE_OK or an error.
 */
int lade_fields_read(struct lade_worker *w, struct lade_batch_buffer *slot, uint64_t id, uint64_t row,
                     struct lade_view *views, void *output);

#endif

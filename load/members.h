/* SPDX-License-Identifier: MIT */
/* Shared by the parts of source_members.c: the index, and how fields are found. Internal. */
#ifndef LADE_LOAD_MEMBERS_H
#define LADE_LOAD_MEMBERS_H

#include "index_file.h"
#include "source_members.h"

/* A start is the number of the file times this, and the byte in it. */
#define LADE_MEMBERS_FILE (UINT64_C(1) << 48)

struct lade_members {
    const struct lade_members_format *format;
    struct lade_bytes *file;
    uint64_t files, count, space; /* space: of start */
    const struct lade_alloc *alloc;
    uint64_t *start;
    bool owned, check;
    unsigned fields;
    struct lade_value_field field[LADE_FIELDS_MAX];
    uint32_t *length[LADE_FIELDS_MAX]; /* of each sample; NULL: the field is fixed */
    struct lade_field plain[LADE_FIELDS_MAX];
    struct lade_schema schema;
    uint64_t classes, unpacked;
    const struct lade_members_config *config; /* while it is opened */
    char *index_file;
};

/* The fields: those that are declared, or all values of the first samples. */
int lade_members_find(struct lade_members *members, const struct lade_members_config *config, struct lade_error *error);
/* Shapes, lengths and classes, from all samples where they are not declared. */
int lade_members_measure(struct lade_members *members, const struct lade_members_config *config,
                         struct lade_error *error);

/* The roles of the fields; and whether this build can decode them. */
int lade_members_choose(struct lade_members *members, const struct lade_members_config *config,
                        struct lade_error *error);
/* Fields, starts, lengths and classes, for an index file. take: false leaves members without them. */
void lade_members_put(const void *members, struct lade_index_writer *writer);
bool lade_members_take(void *members, struct lade_index_reader *reader);

/*
 * A value whose data is not compressed: the same, or one whose data is on the heap. The caller then frees it as
 * bytes->data, which else is NULL.
 */
int lade_members_unpack(const struct lade_members *members, const struct lade_value *value, struct lade_value *to,
                        struct lade_bytes *bytes, struct lade_error *error);
/*
 * The error of a parser of the value, from inner, which is changed. Inside compressed bytes there is no place in the
 * file: the error gets that of the value. Returns status.
 */
int lade_members_explain(const struct lade_value *value, int status, struct lade_error *inner,
                         struct lade_error *error);
/* Whether the field looks for values of this name. */
bool lade_members_matches(const struct lade_value_field *field, const char *name, size_t length);
/* Frees the names of a field. */
void lade_members_drop_names(struct lade_members *members, unsigned field);
/* Shapes of the values of sample i; found: whether it has the value. A length of 2^32 or more is damage. */
int lade_members_shape(const struct lade_members *members, uint64_t i, struct lade_shape *shapes, bool *found,
                       struct lade_error *error);
int lade_members_label(const struct lade_members *members, uint64_t i, int64_t *label, struct lade_error *error);
int lade_members_no_memory(struct lade_error *error);

#endif

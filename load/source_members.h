/* SPDX-License-Identifier: MIT */
/* Sources whose samples are several encoded values in a file: TFRecord and tar; and Megatron's tokens. Internal. */
#ifndef LADE_LOAD_SOURCE_MEMBERS_H
#define LADE_LOAD_SOURCE_MEMBERS_H

#include "source.h"

#include <lade/alloc.h>

struct lade_megatron {
    struct lade_bytes index, data;
    enum lade_dtype dtype;
    bool whole; /* a sample is a document, not a sequence */
    uint64_t sequences, count, longest;
    uint64_t lengths_at, pointers_at, documents_at; /* in the index */
};
/* Checks the whole index. */
int lade_megatron_parse(struct lade_megatron *megatron, struct lade_bytes index, struct lade_bytes data, bool whole,
                        struct lade_error *error);
int lade_megatron_length(const struct lade_megatron *megatron, uint64_t i, uint64_t *length, struct lade_error *error);
int lade_megatron_read(const struct lade_megatron *megatron, uint64_t i, const struct lade_view *view,
                       struct lade_error *error);
int lade_megatron_open(struct lade_source **source, const char *index, const char *data, bool whole,
                       const struct lade_alloc *alloc, struct lade_error *error);

/* How a value is encoded. */
enum lade_value_kind {
    LADE_VALUE_RAW,     /* elements, little-endian */
    LADE_VALUE_IMAGE,   /* JPEG or PNG */
    LADE_VALUE_NPY,     /* a file of NumPy */
    LADE_VALUE_INTEGER, /* decimal digits */
    LADE_VALUE_JSON,    /* a number or an array of numbers, or one member of an object */
    LADE_VALUE_INT64S,  /* Int64List of tf.train */
    LADE_VALUE_FLOATS,  /* FloatList of tf.train */
};

/* An encoded value: some bytes of a file. data is NULL if the sample lacks it. */
struct lade_value {
    const uint8_t *data;
    size_t size;
    uint64_t offset; /* in the file */
    const char *file;
    enum lade_value_kind kind;
    const char *fault;         /* why it cannot be read, although the sample can; or NULL */
    enum lade_packing packing; /* of data */
};

/* A field and how its values become elements. */
struct lade_value_field {
    struct lade_field field;
    enum lade_value_kind kind;
    const char *lookup;       /* names of its values, with ; between alternatives */
    const char *member;       /* of a JSON object, or NULL */
    struct lade_picture size; /* of images; height 0: found from the first */
    const struct lade_alloc *alloc;
    bool typed, shaped, scaled; /* kind and dtype are given; the shape is; images are scaled to size */
};

/*
 * Element type and shape of a value. Raw bytes have those of the field: whole elements, and steps of its shape if it
 * is ragged. A list of lists has no shape.
 */
int lade_value_shape(const struct lade_value_field *field, const struct lade_value *value, struct lade_shape *shape,
                     struct lade_error *error);

/* Decodes the part of the value that the view wants, which must be in it. A fixed field: the value has its shape. */
int lade_value_read(const struct lade_value_field *field, const struct lade_value *value, const struct lade_view *view,
                    struct lade_error *error);

/* Steps of the ragged dimension of a value of this shape; false if the shape is not that of the field. */
bool lade_value_steps(const struct lade_field *field, const struct lade_shape *shape, uint64_t *steps);

/* Elements of the field's shape without the ragged dimension. */
uint64_t lade_field_elements(const struct lade_field *field);

/* Numbers in JSON. Reads elements from, ... of the array (or the number) into to, doubles, unless that is NULL. */
struct lade_json {
    uint64_t count;
    bool is_array;
};
int lade_json_numbers(struct lade_json *json, const struct lade_value *value, const char *member, void *to,
                      uint64_t from, uint64_t length, struct lade_error *error);
/* Calls found for each member of an object that is a number or an array of numbers; none if it is no object. */
int lade_json_members(const struct lade_value *value, int (*found)(void *context, const char *name, size_t length),
                      void *context, struct lade_error *error);

/* Lists of tf.train: number of elements, and elements from, ... into to, unless that is NULL. */
int lade_list_read(const struct lade_value *value, uint64_t *count, void *to, uint64_t from, uint64_t length,
                   struct lade_error *error);

/* Receives each value of a sample; a status other than LADE_OK ends the visit. */
typedef int lade_visitor(void *context, const char *name, size_t length, const struct lade_value *value,
                         struct lade_error *error);

/* A file format: where samples begin, and which values one has. The functions read only the given bytes. */
struct lade_members_format {
    const char *kind;
    const char *label; /* the name of the label, unless the text names another */
    const char *json;  /* "json.": fields that begin with it are members of the JSON object "json"; or NULL */
    bool scan_checks;  /* next verifies all checksums there are: visit need not, unless an index file has the begins */
    /* The first sample at or after *at: its begin; *at becomes the end of it. LADE_EMPTY: there is none. */
    int (*next)(struct lade_bytes file, uint64_t *at, uint64_t *begin, struct lade_error *error);
    /* Visits the values of the sample at begin, which may be any byte of the file. check: also verifies checksums. */
    int (*visit)(struct lade_bytes file, uint64_t begin, bool check, lade_visitor *visitor, void *context,
                 struct lade_error *error);
    /* The name of the sample at begin; NULL: its number. */
    int (*name)(struct lade_bytes file, uint64_t begin, char *to, size_t size);
    /* Kind of a value by its name, for fields that are not declared. */
    enum lade_value_kind (*kind_of)(const char *name, const struct lade_value *value);
};
extern const struct lade_members_format lade_tfrecord, lade_tar;

struct lade_members_config {
    unsigned fields; /* declared; 0: all that the first samples have */
    struct lade_value_field field[LADE_FIELDS_MAX];
    const char *label, *key, *group; /* names of fields, or NULL */
    uint64_t classes;                /* 0: the largest label + 1 */
    struct lade_picture size;        /* of images */
    bool unchecked;                  /* checksums are not verified */
    uint64_t unpacked;               /* most bytes of a value that is compressed */
    const struct lade_alloc *alloc;  /* NULL: the C library's */
};

struct lade_index;

/*
 * Takes ownership of the array files, also on failure. owned: and of the maps in it. Names in the config are copied. index
 * is of the files, or NULL.
 */
int lade_members_open(struct lade_source **source, const struct lade_members_format *format,
                      const struct lade_members_config *config, struct lade_bytes *files, uint64_t count, bool owned,
                      struct lade_index *index, struct lade_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * schema: the named fields of a sample.
 *
 * A field has an element type and a shape. One leading dimension may be ragged: its length differs between samples. A
 * source without a schema has one field of fixed shape and at most one integer label: "sample" and "label".
 */
#ifndef LADE_SCHEMA_H
#define LADE_SCHEMA_H

#include <lade/api.h>
#include <stddef.h>
#include <stdint.h>

LADE_BEGIN

/* The type of an element. */
enum lade_dtype {
    LADE_BOOL, /* one byte, 0 or 1 */
    LADE_U8,   /* uint8_t */
    LADE_I8,   /* int8_t */
    LADE_U16,  /* uint16_t */
    LADE_I16,  /* int16_t */
    LADE_U32,  /* uint32_t */
    LADE_I32,  /* int32_t */
    LADE_U64,  /* uint64_t */
    LADE_I64,  /* int64_t */
    LADE_F16,  /* IEEE 754 half */
    LADE_F32,  /* float */
    LADE_F64,  /* double */
    LADE_C64,  /* two LADE_F32 */
    LADE_C128, /* two LADE_F64 */
};

/* "u8", "f32", ...; NULL outside the enumeration. */
LADE_API const char *lade_dtype_name(enum lade_dtype dtype);

/* Bytes of one element; 0 outside the enumeration. */
LADE_API size_t lade_dtype_size(enum lade_dtype dtype);

/* Limit of lade_shape.dims. */
#define LADE_DIMS_MAX 32

/* Type and dimensions of a sample, or of a tensor. Frozen, because arrays of it are passed. */
struct lade_shape {
    enum lade_dtype dtype;       /* of an element */
    unsigned dims;               /* 0: a single element */
    uint64_t dim[LADE_DIMS_MAX]; /* each dimension, the outermost first */
};

/*
 * Bytes of a sample of this shape; 0 if a dimension is zero, the dtype is invalid or the product exceeds SIZE_MAX / 2.
 */
LADE_API size_t lade_shape_bytes(const struct lade_shape *shape);

#define LADE_FIELDS_MAX 16     /* of a schema */
#define LADE_FIELD_DIMS_MAX 8  /* of a field */
#define LADE_FIELD_NAME_MAX 63 /* bytes, without the final zero */
#define LADE_NO_FIELD (-1)     /* in place of the number of a field: there is none */
#define LADE_KEY_MAX 65536     /* bytes of a value of the key or group */

/* A named field of a sample. Frozen, because arrays of it are passed. */
struct lade_field {
    const char *name;                  /* up to LADE_FIELD_NAME_MAX bytes */
    enum lade_dtype dtype;             /* of an element */
    unsigned dims;                     /* of dim; 0: a single element */
    uint64_t dim[LADE_FIELD_DIMS_MAX]; /* each dimension, the outermost first */
    /* 0: the shape is dim. Else the shape is L x dim, where L differs between samples, from 0 to ragged_max. */
    uint64_t ragged_max;
};

/*
 * Bytes of one step of a ragged field, or of a sample of a fixed field; 0 if a dimension is zero, the dtype or the
 * number of dimensions is invalid, or the product exceeds SIZE_MAX / 2.
 */
LADE_API size_t lade_field_bytes(const struct lade_field *field);

/*
 * Frozen: it has no size. label, key and group are numbers of fields, or LADE_NO_FIELD. Set all three: in a schema that
 * is initialised with zeros they are 0, which means field 0.
 */
struct lade_schema {
    unsigned fields;                /* number of field */
    const struct lade_field *field; /* all fields, up to LADE_FIELDS_MAX */
    int label;                      /* an integer of fixed shape, one element: for class statistics */
    /* Identifies a sample permanently; routes it in a split. A value has at most LADE_KEY_MAX bytes. */
    int key;
    int group; /* routes all samples with one value to one part of a split; sizes as for key */
};

/* The number of the field with this name, or LADE_NO_FIELD. */
LADE_API int lade_schema_find(const struct lade_schema *schema, const char *name);

/*
 * Where a read stores one field of one sample, and which part of it: length steps of the ragged dimension, starting at
 * step from. A fixed field has from 0 and length 1. Frozen, because arrays of it are passed.
 */
struct lade_view {
    void *data;            /* needs no alignment. NULL: this field is not wanted */
    uint64_t from, length; /* the part, in steps */
};

LADE_END

#endif

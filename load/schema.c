/* SPDX-License-Identifier: MIT */
/* Schemas: their checks, and the fields of sources that have none. */
#include "source.h"

#include <string.h>

static size_t product(enum lade_dtype dtype, unsigned dims, const uint64_t *dim)
{
    size_t bytes = lade_dtype_size(dtype);

    for (unsigned d = 0; d < dims; d++) {
        if (dim[d] == 0 || bytes > SIZE_MAX / 2 / dim[d])
            return 0;
        bytes *= (size_t)dim[d];
    }
    return bytes;
}

size_t lade_field_bytes(const struct lade_field *field)
{
    return field->dims > LADE_FIELD_DIMS_MAX ? 0 : product(field->dtype, field->dims, field->dim);
}

int lade_schema_find(const struct lade_schema *schema, const char *name)
{
    for (unsigned f = 0; f < schema->fields; f++)
        if (!strcmp(schema->field[f].name, name))
            return (int)f;
    return LADE_NO_FIELD;
}

bool lade_dtype_is_integer(enum lade_dtype dtype)
{
    return dtype >= LADE_U8 && dtype <= LADE_I64;
}

bool lade_integer_at(enum lade_dtype dtype, const void *at, int64_t *to)
{
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
    } value = {.u64 = 0};

    memcpy(&value, at, lade_dtype_size(dtype));
    switch (dtype) {
    case LADE_BOOL:
    case LADE_U8:
        *to = value.u8;
        return true;
    case LADE_I8:
        *to = value.i8;
        return true;
    case LADE_U16:
        *to = value.u16;
        return true;
    case LADE_I16:
        *to = value.i16;
        return true;
    case LADE_U32:
        *to = value.u32;
        return true;
    case LADE_I32:
        *to = value.i32;
        return true;
    case LADE_U64:
        *to = (int64_t)(value.u64 & INT64_MAX);
        return value.u64 <= INT64_MAX;
    default:
        *to = value.i64;
        return true;
    }
}

static int check_field(const struct lade_schema *schema, unsigned f, const char *kind, struct lade_error *error)
{
    const struct lade_field *field = &schema->field[f];

    if (!field->name || !*field->name || !memchr(field->name, 0, LADE_FIELD_NAME_MAX + 1))
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET, "field %u has no name, or one above %d bytes", f,
                         LADE_FIELD_NAME_MAX);
    for (unsigned other = 0; other < f; other++)
        if (!strcmp(schema->field[other].name, field->name))
            return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET, "two fields have the name '%s'", field->name);
    if (!lade_dtype_name(field->dtype) || field->dims > LADE_FIELD_DIMS_MAX)
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET,
                         "field '%s' has an unknown element type, or more than %d dimensions", field->name,
                         LADE_FIELD_DIMS_MAX);
    const size_t bytes = lade_field_bytes(field);
    if (bytes == 0 || (field->ragged_max > 0 && bytes > SIZE_MAX / 2 / field->ragged_max))
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET,
                         "field '%s' has a dimension of zero, or more than 2^63 bytes", field->name);
    return LADE_OK;
}

int lade_source_number(const struct lade_source *source, uint64_t i, unsigned field, uint64_t *number,
                       struct lade_error *error)
{
    /* Reading does not change a source; only the callbacks take it without const. */
    struct lade_source *reads = (struct lade_source *)(uintptr_t)source;
    const struct lade_field *f = &source->field[field];
    const size_t step = lade_field_bytes(f);
    struct lade_view views[LADE_FIELDS_MAX] = {{0}}, *view = &views[field];
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a (Fowler, Noll, Vo 1991) */
    uint8_t value[LADE_KEY_MAX];
    int64_t integer;

    /* In one piece: each read can decode the whole record. lade_schema_check() bounds the bytes. */
    int status = lade_source_length(reads, i, field, &view->length, error);
    if (status != LADE_OK)
        return status;
    view->data = value;
    if (view->length > 0)
        status = lade_source_read_views(reads, i, views, error);
    if (status != LADE_OK)
        return status;
    if (f->ragged_max == 0 && step == lade_dtype_size(f->dtype) && lade_dtype_is_integer(f->dtype)) {
        if (lade_integer_at(f->dtype, value, &integer))
            *number = (uint64_t)integer;
        else
            memcpy(number, value, sizeof *number); /* a LADE_U64 above 2^63 */
        return LADE_OK;
    }
    for (size_t b = 0; b < (size_t)view->length * step; b++)
        hash = (hash ^ value[b]) * UINT64_C(0x100000001b3);
    *number = hash;
    return LADE_OK;
}

/* Of a value of the field, at most; check_field() has checked that it fits. */
static uint64_t value_bytes(const struct lade_field *field)
{
    return lade_field_bytes(field) * (field->ragged_max ? field->ragged_max : 1);
}

static bool is_field(const struct lade_schema *schema, int field)
{
    return field == LADE_NO_FIELD || (field >= 0 && (unsigned)field < schema->fields);
}

int lade_schema_check(const struct lade_schema *schema, const char *kind, struct lade_error *error)
{
    if (schema->fields == 0 || schema->fields > LADE_FIELDS_MAX || !schema->field)
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET, "a schema has 1 to %d fields", LADE_FIELDS_MAX);
    for (unsigned f = 0; f < schema->fields; f++) {
        int status = check_field(schema, f, kind, error);
        if (status != LADE_OK)
            return status;
    }
    if (!is_field(schema, schema->label) || !is_field(schema, schema->key) || !is_field(schema, schema->group))
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET, "label, key or group is not one of the %u fields",
                         schema->fields);
    const int keys[] = {schema->key, schema->group};
    for (int k = 0; k < 2; k++)
        if (keys[k] != LADE_NO_FIELD && value_bytes(&schema->field[keys[k]]) > LADE_KEY_MAX)
            return lade_fail(error, LADE_LIMITED, kind, LADE_NO_OFFSET,
                             "field '%s' is a key or group, but a value can have more than %d bytes",
                             schema->field[keys[k]].name, LADE_KEY_MAX);
    if (schema->label == LADE_NO_FIELD)
        return LADE_OK;
    const struct lade_field *label = &schema->field[schema->label];
    if (!lade_dtype_is_integer(label->dtype) || label->ragged_max > 0 ||
        lade_field_bytes(label) != lade_dtype_size(label->dtype))
        return lade_fail(error, LADE_INVALID, kind, LADE_NO_OFFSET,
                         "field '%s' is the label, but is not one integer for each sample", label->name);
    return LADE_OK;
}

/* The fields of a source without a schema. A field has fewer dimensions than a shape: the last ones become one. */
static void derive(struct lade_source *source)
{
    const struct lade_shape *shape = &source->info.shape;
    struct lade_field *sample = &source->field[0];

    *sample = (struct lade_field){.name = "sample", .dtype = shape->dtype};
    for (unsigned d = 0; d < shape->dims; d++) {
        if (sample->dims < LADE_FIELD_DIMS_MAX)
            sample->dim[sample->dims++] = shape->dim[d];
        else
            sample->dim[LADE_FIELD_DIMS_MAX - 1] *= shape->dim[d];
    }
    source->field[1] = (struct lade_field){.name = "label", .dtype = LADE_I64};
    const bool has_labels = source->info.classes > 0;
    source->schema = (struct lade_schema){.fields = has_labels ? 2 : 1,
                                          .label = has_labels ? 1 : LADE_NO_FIELD,
                                          .key = LADE_NO_FIELD,
                                          .group = LADE_NO_FIELD};
}

void lade_source_describe(struct lade_source *source)
{
    struct lade_source_info *info = &source->info;

    if (!info->schema) {
        derive(source);
        source->schema.field = source->field;
        return;
    }
    source->schema = *info->schema;
    memcpy(source->field, info->schema->field, info->schema->fields * sizeof *source->field);
    source->schema.field = source->field;
    info->schema = &source->schema;
    info->shape = (struct lade_shape){.dtype = source->field[0].dtype};
    info->bytes = 0;
    if (source->field[0].ragged_max > 0)
        return;
    info->shape.dims = source->field[0].dims;
    memcpy(info->shape.dim, source->field[0].dim, info->shape.dims * sizeof *info->shape.dim);
    info->bytes = lade_field_bytes(&source->field[0]);
}

const struct lade_schema *lade_source_schema(const struct lade_source *source)
{
    return &source->schema;
}

static int outside(const struct lade_source *source, uint64_t i, struct lade_error *error)
{
    return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET, "there is no sample %llu; there are %llu",
                     (unsigned long long)i, (unsigned long long)source->info.count);
}

int lade_source_length(struct lade_source *source, uint64_t i, unsigned field, uint64_t *length,
                       struct lade_error *error)
{
    if (i >= source->info.count)
        return outside(source, i, error);
    if (field >= source->schema.fields)
        return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET, "there is no field %u; there are %u",
                         field, source->schema.fields);
    *length = 1;
    if (source->field[field].ragged_max == 0)
        return LADE_OK;
    struct lade_error scratch;
    int status = source->ops.length(source->self, i, field, length, lade_error_or(error, &scratch));
    if (status == LADE_OK && *length > source->field[field].ragged_max)
        return lade_fail(error, LADE_DAMAGED, source->info.kind, LADE_NO_OFFSET,
                         "field '%s' of sample %llu has %llu steps; the schema allows %llu", source->field[field].name,
                         (unsigned long long)i, (unsigned long long)*length,
                         (unsigned long long)source->field[field].ragged_max);
    return status;
}

/* The fields of a source without a schema are read as one sample. */
static int read_derived(struct lade_source *source, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    void *label_to = source->schema.fields > 1 ? views[1].data : NULL;
    int64_t label = LADE_NO_LABEL;
    int status = LADE_OK;

    if (views[0].data)
        status = lade_source_read(source, i, views[0].data, &label, error);
    else if (label_to)
        status = lade_source_label(source, i, &label, error);
    if (status == LADE_OK && label_to)
        memcpy(label_to, &label, sizeof label);
    return status;
}

int lade_source_read_views(struct lade_source *source, uint64_t i, const struct lade_view *views,
                           struct lade_error *error)
{
    struct lade_error scratch;

    return source->info.schema ? source->ops.read_fields(source->self, i, views, lade_error_or(error, &scratch))
                               : read_derived(source, i, views, error);
}

/* Whether a view is inside its field. */
static int check_view(struct lade_source *source, uint64_t i, unsigned field, const struct lade_view *view,
                      struct lade_error *error)
{
    uint64_t length;
    int status = lade_source_length(source, i, field, &length, error);

    if (status != LADE_OK)
        return status;
    const bool fixed = source->field[field].ragged_max == 0;
    if (view->from > length || view->length > length - view->from || (fixed && view->length != 1))
        return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET,
                         "field '%s' of sample %llu has %llu steps; %llu are asked for, from step %llu on",
                         source->field[field].name, (unsigned long long)i, (unsigned long long)length,
                         (unsigned long long)view->length, (unsigned long long)view->from);
    return LADE_OK;
}

int lade_source_read_fields(struct lade_source *source, uint64_t i, const struct lade_view *views,
                            struct lade_error *error)
{
    const int label = source->info.schema ? source->schema.label : LADE_NO_FIELD; /* else it is checked already */
    int status = LADE_OK;
    int64_t value;

    if (i >= source->info.count)
        return outside(source, i, error);
    for (unsigned f = 0; f < source->schema.fields && status == LADE_OK; f++)
        if (views[f].data)
            status = check_view(source, i, f, &views[f], error);
    if (status == LADE_OK)
        status = lade_source_read_views(source, i, views, error);
    if (status != LADE_OK || label == LADE_NO_FIELD || !views[label].data)
        return status;
    if (!lade_integer_at(source->field[label].dtype, views[label].data, &value))
        value = INT64_MIN; /* too large for any class */
    return lade_source_check_label(source, i, value, error);
}

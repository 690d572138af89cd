/* SPDX-License-Identifier: MIT */
/* Samples with several fields, each from one array: in memory, or in a mapped npy file. */
#include "source.h"

#include "heap.h"
#include "sized.h"

#include <string.h>

struct arrays_source {
    struct lade_arrays a;
    struct lade_schema schema;
    struct lade_field field[LADE_FIELDS_MAX];
    char name[LADE_FIELDS_MAX][LADE_FIELD_NAME_MAX + 1];
    struct lade_bytes map[2 * LADE_FIELDS_MAX];
    unsigned maps;
    const struct lade_alloc *alloc;
};

static uint64_t offset_at(const struct lade_array *array, uint64_t i)
{
    int32_t narrow;
    int64_t wide;

    if (array->wide) {
        memcpy(&wide, array->offsets + i * sizeof wide, sizeof wide);
        return (uint64_t)wide;
    }
    memcpy(&narrow, array->offsets + i * sizeof narrow, sizeof narrow);
    return (uint64_t)(int64_t)narrow; /* a negative offset becomes large */
}

/* The steps of sample i. Offsets are checked at each use: the caller's memory may have changed. */
static int extent_of(const struct lade_array *array, uint64_t i, uint64_t *from, uint64_t *length,
                     struct lade_error *error)
{
    *from = offset_at(array, i);
    const uint64_t end = offset_at(array, i + 1);
    if (*from > end || end > array->steps)
        return lade_fail(error, LADE_DAMAGED, array->file, LADE_NO_OFFSET,
                         "offsets %llu and %llu of field '%s' fall, are negative, or are above %llu steps",
                         (unsigned long long)i, (unsigned long long)i + 1, array->field.name,
                         (unsigned long long)array->steps);
    *length = end - *from;
    return LADE_OK;
}

static int length_of(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct arrays_source *s = self;
    uint64_t from;

    return extent_of(&s->a.array[field], i, &from, length, error);
}

static int read_array(const struct lade_array *array, uint64_t i, const struct lade_view *view,
                      struct lade_error *error)
{
    const size_t bytes = lade_field_bytes(&array->field);
    uint64_t from = i, length = 0;

    if (array->offsets) {
        int status = extent_of(array, i, &from, &length, error);
        if (status != LADE_OK)
            return status;
        if (view->from > length || view->length > length - view->from)
            return lade_fail(error, LADE_INVALID, array->file, LADE_NO_OFFSET,
                             "field '%s' of sample %llu has %llu steps", array->field.name, (unsigned long long)i,
                             (unsigned long long)length);
        from += view->from;
    }
    if (view->length == 0)
        return LADE_OK;
    memcpy(view->data, array->values + from * bytes, (size_t)view->length * bytes);
    if (array->swap > 1)
        lade_swap_elements(view->data, (size_t)view->length * bytes, array->swap);
    return LADE_OK;
}

static int read_arrays(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct arrays_source *s = self;
    int status = LADE_OK;

    for (unsigned f = 0; f < s->a.arrays && status == LADE_OK; f++)
        if (views[f].data)
            status = read_array(&s->a.array[f], i, &views[f], error);
    return status;
}

static void close_arrays(void *self)
{
    struct arrays_source *s = self;

    for (unsigned m = 0; m < s->maps; m++)
        lade_unmap(&s->map[m], s->alloc);
    lade_heap_put(s->alloc, s);
}

/* Checks all offsets, and stores the length of the longest sample. */
static int scan_offsets(struct lade_array *array, uint64_t count, struct lade_error *error)
{
    uint64_t from, length = 0;

    array->field.ragged_max = 1; /* 0 would mean a fixed field */
    for (uint64_t i = 0; i < count; i++) {
        int status = extent_of(array, i, &from, &length, error);
        if (status != LADE_OK)
            return status;
        if (length > array->field.ragged_max)
            array->field.ragged_max = length;
    }
    return LADE_OK;
}

/* The largest label + 1. */
static int count_classes(const struct lade_array *array, uint64_t count, uint64_t *classes, struct lade_error *error)
{
    uint8_t bytes[8] = {0};
    const struct lade_view view = {bytes, 0, 1};
    int64_t label, most = 0;

    for (uint64_t i = 0; i < count; i++) {
        int status = read_array(array, i, &view, error);
        if (status != LADE_OK)
            return status;
        if (!lade_integer_at(array->field.dtype, bytes, &label) || label < 0 || (uint64_t)label >= LADE_CLASSES_MAX)
            return lade_fail(error, LADE_DAMAGED, array->file, LADE_NO_OFFSET,
                             "the label of sample %llu, field '%s', is negative or not below %llu",
                             (unsigned long long)i, array->field.name, (unsigned long long)LADE_CLASSES_MAX);
        most = label > most ? label : most;
    }
    *classes = (uint64_t)most + 1;
    return LADE_OK;
}

/* Checks the arrays against each other, and fills what follows from them. */
static int complete(struct arrays_source *s, struct lade_error *error)
{
    struct lade_arrays *a = &s->a;
    int status = LADE_OK;

    for (unsigned f = 0; f < a->arrays && status == LADE_OK; f++) {
        struct lade_array *array = &a->array[f];
        const size_t bytes = lade_field_bytes(&array->field);
        const uint64_t steps = array->offsets ? array->steps : a->count;
        if ((!array->values && steps > 0) || (bytes > 0 && steps > SIZE_MAX / 2 / bytes))
            return lade_fail(error, LADE_INVALID, a->kind, LADE_NO_OFFSET,
                             "field %u has no values, or above 2^63 bytes", f);
        if (array->offsets)
            status = scan_offsets(array, a->count, error);
        else
            array->field.ragged_max = 0;
        if (array->field.name) /* else the check of the schema refuses it */
            array->field.name = strncpy(s->name[f], array->field.name, LADE_FIELD_NAME_MAX);
        s->field[f] = array->field;
    }
    s->schema = (struct lade_schema){a->arrays, s->field, a->label, a->key, a->group};
    if (status == LADE_OK)
        status = lade_schema_check(&s->schema, a->kind, error);
    if (status == LADE_OK && a->label != LADE_NO_FIELD && a->classes == 0)
        status = count_classes(&a->array[a->label], a->count, &a->classes, error);
    return status;
}

int lade_arrays_source(struct lade_source **source, const struct lade_arrays *arrays, const struct lade_bytes *maps,
                       unsigned count, const struct lade_alloc *alloc, struct lade_error *error)
{
    static const struct lade_source_ops ops = {.close = close_arrays, .length = length_of, .read_fields = read_arrays};
    struct arrays_source *s = lade_heap_get(alloc, 1, sizeof *s);
    int status = LADE_NO_MEMORY;

    *source = NULL;
    if (!s) {
        for (unsigned m = 0; m < count; m++) {
            struct lade_bytes map = maps[m];
            lade_unmap(&map, alloc);
        }
        return lade_fail(error, status, arrays->kind, LADE_NO_OFFSET, "out of memory");
    }
    s->a = *arrays;
    s->alloc = alloc;
    s->maps = count;
    for (unsigned m = 0; m < count; m++)
        s->map[m] = maps[m];
    status = complete(s, error);
    const struct lade_source_info info = {
        .kind = arrays->kind, .count = arrays->count, .classes = s->a.classes, .schema = &s->schema};
    if (status == LADE_OK)
        status = lade_source_open_custom(source, &ops, s, &info, alloc, error);
    if (status != LADE_OK)
        close_arrays(s);
    return status;
}

/* The number of the column with this name; LADE_NO_FIELD without a name. False: there is none. */
static bool find_column(const struct lade_source_arrays *arrays, const char *name, int *column)
{
    *column = LADE_NO_FIELD;
    for (unsigned f = 0; name && f < arrays->columns; f++)
        if (arrays->column[f].field.name && !strcmp(arrays->column[f].field.name, name))
            *column = (int)f;
    return !name || *column != LADE_NO_FIELD;
}

static int open_arrays(struct lade_source **source, const struct lade_source_arrays *arrays, struct lade_error *error)
{
    struct lade_arrays a = {
        .kind = "arrays", .count = arrays->count, .arrays = arrays->columns, .classes = arrays->classes};

    *source = NULL;
    if (arrays->columns == 0 || arrays->columns > LADE_FIELDS_MAX || !arrays->column)
        return lade_fail(error, LADE_INVALID, a.kind, LADE_NO_OFFSET, "there are 1 to %d columns", LADE_FIELDS_MAX);
    for (unsigned f = 0; f < arrays->columns; f++) {
        const struct lade_source_column *c = &arrays->column[f];
        if (c->field.name && !memchr(c->field.name, 0, LADE_FIELD_NAME_MAX + 1))
            return lade_fail(error, LADE_INVALID, a.kind, LADE_NO_OFFSET, "the name of field %u has more than %d bytes",
                             f, LADE_FIELD_NAME_MAX);
        if (c->offsets && c->offset_dtype != LADE_I32 && c->offset_dtype != LADE_I64)
            return lade_fail(error, LADE_INVALID, a.kind, LADE_NO_OFFSET, "the offsets of field %u are not i32 or i64",
                             f);
        a.array[f] = (struct lade_array){.field = c->field,
                                         .values = c->values,
                                         .offsets = c->offsets,
                                         .wide = c->offset_dtype == LADE_I64,
                                         .steps = c->steps,
                                         .file = a.kind};
    }
    if (!find_column(arrays, arrays->label, &a.label) || !find_column(arrays, arrays->key, &a.key) ||
        !find_column(arrays, arrays->group, &a.group))
        return lade_fail(error, LADE_INVALID, a.kind, LADE_NO_OFFSET, "label, key or group names no column");
    return lade_arrays_source(source, &a, NULL, 0, arrays->alloc, error);
}

int lade_source_open_arrays_sized(struct lade_source **source, const struct lade_source_arrays *arrays, size_t size,
                                  struct lade_error *error)
{
    struct lade_source_arrays copy;

    arrays = lade_sized_in(arrays, size, &copy, sizeof copy);
    return arrays ? open_arrays(source, arrays, error) : lade_fail_unknown(error);
}

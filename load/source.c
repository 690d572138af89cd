/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "heap.h"
#include "sized.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [LADE_BOOL] = {"bool", 1}, [LADE_U8] = {"u8", 1},      [LADE_I8] = {"i8", 1},   [LADE_U16] = {"u16", 2},
    [LADE_I16] = {"i16", 2},   [LADE_U32] = {"u32", 4},    [LADE_I32] = {"i32", 4}, [LADE_U64] = {"u64", 8},
    [LADE_I64] = {"i64", 8},   [LADE_F16] = {"f16", 2},    [LADE_F32] = {"f32", 4}, [LADE_F64] = {"f64", 8},
    [LADE_C64] = {"c64", 8},   [LADE_C128] = {"c128", 16},
};

const char *lade_dtype_name(enum lade_dtype dtype)
{
    return (unsigned)dtype < sizeof dtypes / sizeof *dtypes ? dtypes[dtype].name : NULL;
}

size_t lade_dtype_size(enum lade_dtype dtype)
{
    return (unsigned)dtype < sizeof dtypes / sizeof *dtypes ? dtypes[dtype].size : 0;
}

size_t lade_shape_bytes(const struct lade_shape *shape)
{
    size_t bytes = lade_dtype_size(shape->dtype);

    if (shape->dims > LADE_DIMS_MAX)
        return 0;
    for (unsigned d = 0; d < shape->dims; d++) {
        if (shape->dim[d] == 0 || bytes > SIZE_MAX / 2 / shape->dim[d])
            return 0;
        bytes *= (size_t)shape->dim[d];
    }
    return bytes;
}

/* The shape of the samples, or the schema. */
static int check_samples(const struct lade_source_ops *ops, const struct lade_source_info *info,
                         struct lade_error *error)
{
    if (!info->schema)
        return info->bytes > 0 && info->bytes == lade_shape_bytes(&info->shape)
                   ? LADE_OK
                   : lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET,
                               "no samples, or the shape does not agree with the bytes of a sample");
    int status = lade_schema_check(info->schema, info->kind, error);
    if (status != LADE_OK)
        return status;
    bool is_ragged = false;
    for (unsigned f = 0; f < info->schema->fields; f++)
        is_ragged |= info->schema->field[f].ragged_max > 0;
    if (!ops->read_fields || (is_ragged && !ops->length))
        return lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET,
                         "a source with a schema has a read_fields function, and a length function for ragged fields");
    if (info->count == LADE_ENDLESS)
        return lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET, "an endless source has no schema");
    return LADE_OK;
}

static int make(struct lade_source **source, const struct lade_source_ops *ops, void *self,
                const struct lade_source_info *info, const struct lade_alloc *alloc, struct lade_error *error)
{
    *source = NULL;
    if ((!ops->read && !ops->next && !info->schema) || (info->count == LADE_ENDLESS) != (ops->next != NULL))
        return lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET,
                         "a source needs a read function, or, exactly if it is endless, a next function");
    if (info->count == 0)
        return lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET, "no samples");
    int status = check_samples(ops, info, error);
    if (status != LADE_OK)
        return status;
    if (info->classes > LADE_CLASSES_MAX)
        return lade_fail(error, LADE_INVALID, info->kind, LADE_NO_OFFSET, "more than %llu classes",
                         (unsigned long long)LADE_CLASSES_MAX);
    struct lade_source *made = lade_heap_get(alloc, 1, sizeof *made);
    if (!made)
        return lade_fail(error, LADE_NO_MEMORY, info->kind, LADE_NO_OFFSET, "out of memory");
    made->ops = *ops;
    made->self = self;
    made->info = *info;
    lade_source_describe(made);
    made->alloc = alloc;
    *source = made;
    return LADE_OK;
}

int lade_source_open_custom_sized(struct lade_source **source, const struct lade_source_ops *ops, size_t ops_size,
                                  void *self, const struct lade_source_info *info, size_t info_size,
                                  const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_source_ops ops_copy;
    struct lade_source_info info_copy;

    ops = lade_sized_in(ops, ops_size, &ops_copy, sizeof ops_copy);
    info = lade_sized_in(info, info_size, &info_copy, sizeof info_copy);
    return ops && info ? make(source, ops, self, info, alloc, error) : lade_fail_unknown(error);
}

void lade_source_close(struct lade_source *source)
{
    if (!source)
        return;
    if (source->ops.close)
        source->ops.close(source->self);
    lade_heap_put(source->alloc, source);
}

const struct lade_source_info *lade_source_info(const struct lade_source *source)
{
    return &source->info;
}

static int outside(const struct lade_source *source, uint64_t i, struct lade_error *error)
{
    return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET, "there is no sample %llu; there are %llu",
                     (unsigned long long)i, (unsigned long long)source->info.count);
}

/* A custom source may violate the contract for labels; code that counts classes relies on it. */
static bool label_fits(const struct lade_source *source, int64_t label)
{
    return source->info.classes == 0 || (uint64_t)label < source->info.classes; /* a negative label becomes large */
}

static int wrong_label(const struct lade_source *source, uint64_t i, int64_t label, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, source->info.kind, LADE_NO_OFFSET, "the label of sample %llu is %s",
                     (unsigned long long)i, label < 0 ? "negative" : "not below the number of classes");
}

int lade_source_check_label(const struct lade_source *source, uint64_t i, int64_t label, struct lade_error *error)
{
    return label_fits(source, label) ? LADE_OK : wrong_label(source, i, label, error);
}

/* Reads field 0, unless to is NULL, and the label, through a schema. */
static int read_first(struct lade_source *source, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    struct lade_view views[LADE_FIELDS_MAX] = {{.data = to, .length = 1}};
    const int field = source->schema.label;
    uint64_t bytes = 0;

    *label = LADE_NO_LABEL;
    if (field != LADE_NO_FIELD && !views[field].data)
        views[field] = (struct lade_view){.data = &bytes, .length = 1};
    int status = lade_source_read_views(source, i, views, error);
    if (status != LADE_OK || field == LADE_NO_FIELD)
        return status;
    if (!lade_integer_at(source->field[field].dtype, views[field].data, label))
        return wrong_label(source, i, INT64_MAX, error);
    return lade_source_check_label(source, i, *label, error);
}

int lade_source_read(struct lade_source *source, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    struct lade_error scratch;
    int64_t ignored = 0;

    if (i >= source->info.count)
        return outside(source, i, error);
    if (source->info.bytes == 0)
        return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET,
                         "field '%s' is ragged; read it as a field", source->field[0].name);
    label = label ? label : &ignored;
    if (!source->ops.read && source->info.schema)
        return read_first(source, i, to, label, error);
    if (!source->ops.read)
        return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET,
                         "the source is a stream: its samples have no numbers");
    int status = source->ops.read(source->self, i, to, label, lade_error_or(error, &scratch));
    return status == LADE_OK && !label_fits(source, *label) ? wrong_label(source, i, *label, error) : status;
}

int lade_source_gather(struct lade_source *source, const uint64_t *ids, uint64_t count, void *to, int64_t *labels,
                       uint64_t *done, struct lade_error *error)
{
    bool known = source->ops.gather != NULL;
    struct lade_error scratch;
    int status = LADE_OK;

    for (uint64_t i = 0; i < count && known; i++)
        known = ids[i] < source->info.count;
    if (known) {
        status = source->ops.gather(source->self, ids, count, to, labels, done, lade_error_or(error, &scratch));
        if (status == LADE_OK)
            *done = count;
        for (uint64_t i = 0; i < count && i < *done; i++)
            if (!label_fits(source, labels[i])) {
                *done = i;
                return wrong_label(source, ids[i], labels[i], error);
            }
        /* The index of the failed sample is out of range: read one by one to find the sample. */
        if (status == LADE_OK || *done < count)
            return status;
    }
    for (*done = 0; *done < count; ++*done) {
        status =
            lade_source_read(source, ids[*done], (uint8_t *)to + *done * source->info.bytes, &labels[*done], error);
        if (status != LADE_OK)
            break;
    }
    return status;
}

int lade_source_label(struct lade_source *source, uint64_t i, int64_t *label, struct lade_error *error)
{
    if (i >= source->info.count)
        return outside(source, i, error);
    if (source->info.schema ? source->schema.label == LADE_NO_FIELD : source->info.classes == 0) {
        *label = LADE_NO_LABEL;
        return LADE_OK;
    }
    if (source->info.schema && !source->ops.label)
        return read_first(source, i, NULL, label, error);
    struct lade_error scratch;
    int status;
    if (source->ops.label) {
        status = source->ops.label(source->self, i, label, lade_error_or(error, &scratch));
        return status == LADE_OK && !label_fits(source, *label) ? wrong_label(source, i, *label, error) : status;
    }
    void *sample = lade_heap_raw(source->alloc, 1, source->info.bytes);
    if (!sample)
        return lade_fail(error, LADE_NO_MEMORY, source->info.kind, LADE_NO_OFFSET, "out of memory");
    status = lade_source_read(source, i, sample, label, error);
    lade_heap_put(source->alloc, sample);
    return status;
}

int lade_source_read_key(const struct lade_source *source, uint64_t i, uint64_t *key, struct lade_error *error)
{
    if (!source->ops.key && source->schema.key != LADE_NO_FIELD)
        return lade_source_number(source, i, (unsigned)source->schema.key, key, error);
    *key = source->ops.key ? source->ops.key(source->self, i) : i;
    return LADE_OK;
}

int lade_source_read_group(const struct lade_source *source, uint64_t i, uint64_t *group, struct lade_error *error)
{
    return source->schema.group == LADE_NO_FIELD
               ? lade_source_read_key(source, i, group, error)
               : lade_source_number(source, i, (unsigned)source->schema.group, group, error);
}

bool lade_source_reads_group(const struct lade_source *source)
{
    return source->schema.group != LADE_NO_FIELD || (source->schema.key != LADE_NO_FIELD && !source->ops.key);
}

uint64_t lade_source_key(const struct lade_source *source, uint64_t i)
{
    uint64_t key;

    return i < source->info.count && lade_source_read_key(source, i, &key, NULL) == LADE_OK ? key : i;
}

uint64_t lade_source_group(const struct lade_source *source, uint64_t i)
{
    uint64_t group;

    return i < source->info.count && lade_source_read_group(source, i, &group, NULL) == LADE_OK ? group : i;
}

void lade_source_name(const struct lade_source *source, uint64_t i, char *to, size_t size)
{
    if (size == 0)
        return;
    if (source->ops.name && i < source->info.count)
        source->ops.name(source->self, i, to, size);
    else
        (void)snprintf(to, size, "%llu", (unsigned long long)i);
}

int lade_source_next(struct lade_source *source, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    struct lade_error scratch;
    int64_t ignored_label = 0;
    uint64_t ignored_key = 0;

    if (!source->ops.next)
        return lade_fail(error, LADE_INVALID, source->info.kind, LADE_NO_OFFSET,
                         "the source is not a stream: its samples are read by number");
    label = label ? label : &ignored_label;
    key = key ? key : &ignored_key;
    int status = source->ops.next(source->self, to, label, key, lade_error_or(error, &scratch));
    return status == LADE_OK && !label_fits(source, *label) ? wrong_label(source, *key, *label, error) : status;
}

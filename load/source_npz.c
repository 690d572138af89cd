/* SPDX-License-Identifier: MIT */
/*
 * npz, NumPy's zip file of arrays: each array is a field, and its first dimension counts the samples. Stored arrays are
 * read where they are mapped, once their checksums were verified; compressed ones are unpacked when the file is opened.
 */
#include "source_zip.h"

#include "heap.h"

#include <string.h>

/* The name of an array without ".npy"; false if it is none, or has too long a name. */
static bool array_name(const struct lade_zip_member *m, char to[64])
{
    if (m->length < 5 || m->length > 67 || memcmp(m->name + m->length - 4, ".npy", 4) != 0 ||
        memchr(m->name, 0, m->length))
        return false;
    memcpy(to, m->name, m->length - 4);
    to[m->length - 4] = 0;
    return true;
}

/* The number of an array among the wanted ones; all are if count is 0. */
static bool is_wanted(const struct lade_npz *npz, const char *name, const char *const *names, unsigned count,
                      unsigned *number)
{
    *number = npz->arrays;
    for (unsigned n = 0; n < count; n++)
        if (!strcmp(names[n], name)) {
            *number = n;
            return true;
        }
    return count == 0;
}

static int unlike(struct lade_bytes file, const struct lade_zip_member *m, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, file.name, m->data, "size or checksum of array '%.*s' is wrong",
                     (int)(m->length < 64 ? m->length : 64), m->name);
}

static int unpack_member(struct lade_bytes *to, struct lade_bytes file, const struct lade_zip_member *m, uint64_t limit,
                         const struct lade_alloc *alloc, struct lade_error *error)
{
    const struct lade_bytes packed = {file.data + m->data, (size_t)m->packed, file.name};
    int status = lade_unpack(to, packed, m->data, LADE_DEFLATE, limit, alloc, error);

    if (status == LADE_OK && (to->size != m->size || !lade_zip_checks(*to, m->checksum))) {
        lade_unmap(to, alloc);
        status = unlike(file, m, error);
    }
    return status;
}

static int add_array(struct lade_npz *npz, unsigned number, struct lade_bytes file, const struct lade_zip_member *m,
                     const char *name, uint64_t *limit, bool check, const struct lade_alloc *alloc,
                     struct lade_error *error)
{
    struct lade_bytes bytes = {file.data + m->data, (size_t)m->size, NULL};
    struct lade_error inner = {.status = LADE_OK};
    int status = LADE_OK;

    if (m->method != 0 && m->method != 8)
        return lade_fail(error, LADE_DAMAGED, file.name, m->data,
                         "array '%s' is compressed by method %u; 0 and 8 are read", name, m->method);
    if (m->method == 0 && check && !lade_zip_checks(bytes, m->checksum))
        return unlike(file, m, error);
    if (m->method == 8) {
        status = unpack_member(&npz->map[number], file, m, *limit, alloc, error);
        if (status != LADE_OK)
            return status;
        bytes = (struct lade_bytes){npz->map[number].data, npz->map[number].size, NULL};
        *limit -= bytes.size;
    }
    status = lade_npy_parse(&npz->flat[number], bytes, &inner);
    npz->flat[number].extent[0].name = file.name;
    if (status == LADE_OK)
        return status;
    if (m->method != 0) /* the byte of what was unpacked is none of the file */
        inner.offset = LADE_NO_OFFSET;
    return lade_fail_inside(error, &inner, file.name, m->data, name);
}

static int check_counts(const struct lade_npz *npz, struct lade_bytes file, struct lade_error *error)
{
    for (unsigned a = 0; a < npz->arrays; a++) {
        if (npz->flat[a].count != npz->flat[0].count)
            return lade_fail(error, LADE_DAMAGED, file.name, LADE_NO_OFFSET,
                             "array '%s' has %llu samples, '%s' %llu; field=NAME chooses arrays", npz->name[0],
                             (unsigned long long)npz->flat[0].count, npz->name[a],
                             (unsigned long long)npz->flat[a].count);
        if (npz->flat[a].shape.dims > LADE_FIELD_DIMS_MAX)
            return lade_fail(error, LADE_DAMAGED, file.name, LADE_NO_OFFSET, "array '%s' has more than 9 dimensions",
                             npz->name[a]);
    }
    return LADE_OK;
}

int lade_npz_parse(struct lade_npz *npz, struct lade_bytes file, const char *const *names, unsigned count,
                   uint64_t limit, bool check, const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_zip zip;
    struct lade_zip_member m;
    unsigned found = 0, number;

    npz->arrays = 0;
    memset(npz->map, 0, sizeof npz->map);
    memset(npz->name, 0, sizeof npz->name);
    int status = lade_zip_open(&zip, file, error);
    while (status == LADE_OK && (status = lade_zip_next(&zip, &m, error)) == LADE_OK) {
        char name[64];
        if (!array_name(&m, name) || !is_wanted(npz, name, names, count, &number))
            continue;
        if (number == LADE_FIELDS_MAX)
            return lade_fail(error, LADE_INVALID, file.name, LADE_NO_OFFSET,
                             "there are more than %d arrays; field=NAME chooses some", LADE_FIELDS_MAX);
        for (unsigned a = 0; a < LADE_FIELDS_MAX; a++)
            if (!strcmp(npz->name[a], name))
                return lade_fail(error, LADE_DAMAGED, file.name, m.data, "there are two arrays '%s'", name);
        status = add_array(npz, number, file, &m, name, &limit, check, alloc, error);
        strcpy(npz->name[number], name);
        npz->arrays += count == 0;
        found++;
    }
    if (status != LADE_EMPTY)
        return status;
    for (unsigned n = 0; n < count; n++)
        if (!npz->name[n][0])
            return lade_fail(error, LADE_INVALID, file.name, LADE_NO_OFFSET, "there is no array '%.63s'", names[n]);
    if (found == 0)
        return lade_fail(error, LADE_DAMAGED, file.name, 0, "there are no arrays");
    npz->arrays = found;
    return check_counts(npz, file, error);
}

void lade_npz_drop(struct lade_npz *npz, const struct lade_alloc *alloc)
{
    for (unsigned a = 0; a < LADE_FIELDS_MAX; a++)
        if (npz->map[a].data)
            lade_unmap(&npz->map[a], alloc);
}

/* The label: the one that is named, or one of the usual names if it fits. */
static int find_label(const struct lade_npz *npz, struct lade_bytes file, const char *name, int *label,
                      struct lade_error *error)
{
    static const char *const usual[] = {"label", "labels", "y"};

    *label = LADE_NO_FIELD;
    for (unsigned a = 0; a < npz->arrays; a++)
        for (unsigned u = 0; u < (name ? 1 : 3) && *label == LADE_NO_FIELD; u++) {
            const struct lade_shape *shape = &npz->flat[a].shape;
            const bool fits = name || (shape->dims == 0 && lade_dtype_is_integer(shape->dtype) && npz->arrays > 1);
            if (fits && !strcmp(npz->name[a], name ? name : usual[u]))
                *label = (int)a;
        }
    if (name && *label == LADE_NO_FIELD)
        return lade_fail(error, LADE_INVALID, file.name, LADE_NO_OFFSET, "there is no array '%.63s'", name);
    return LADE_OK;
}

/* The label comes last, so that field 0 is another. */
static void list_arrays(struct lade_npz *npz, struct lade_arrays *to)
{
    const int label = to->label;

    to->count = npz->flat[0].count;
    for (unsigned n = 0; n < npz->arrays; n++) {
        const unsigned last = npz->arrays - 1;
        const unsigned a = label < 0 || (int)n < label ? n : n == last ? (unsigned)label : n + 1;
        const struct lade_flat *flat = &npz->flat[a];
        struct lade_array *array = &to->array[to->arrays++];
        *array =
            (struct lade_array){.field = {.name = npz->name[a], .dtype = flat->shape.dtype, .dims = flat->shape.dims},
                                .values = flat->extent[0].data,
                                .steps = flat->count,
                                .swap = flat->swap,
                                .file = flat->extent[0].name};
        memcpy(array->field.dim, flat->shape.dim, flat->shape.dims * sizeof *flat->shape.dim);
    }
    if (label >= 0)
        to->label = (int)npz->arrays - 1;
}

/* The array of a role; LADE_NO_FIELD without a name. */
static int find_role(const struct lade_arrays *arrays, const char *name, const char *file, int *role,
                     struct lade_error *error)
{
    *role = LADE_NO_FIELD;
    for (unsigned a = 0; name && a < arrays->arrays; a++)
        if (!strcmp(arrays->array[a].field.name, name))
            *role = (int)a;
    return !name || *role != LADE_NO_FIELD
               ? LADE_OK
               : lade_fail(error, LADE_INVALID, file, LADE_NO_OFFSET, "there is no array '%.63s'", name);
}

int lade_npz_open(struct lade_source **source, struct lade_bytes file, const struct lade_npz_config *config,
                  struct lade_error *error)
{
    struct lade_arrays arrays = {.kind = "npz", .label = LADE_NO_FIELD, .key = LADE_NO_FIELD, .group = LADE_NO_FIELD};
    struct lade_bytes maps[LADE_FIELDS_MAX + 1] = {file};
    unsigned count = 1;
    struct lade_npz *npz = lade_heap_raw(config->alloc, 1, sizeof *npz);

    *source = NULL;
    if (!npz) {
        lade_unmap(&file, config->alloc);
        return lade_fail(error, LADE_NO_MEMORY, "npz", LADE_NO_OFFSET, "out of memory");
    }
    int status = lade_npz_parse(npz, file, config->names, config->count, config->limit, !config->unchecked,
                                config->alloc, error);
    if (status == LADE_OK)
        status = find_label(npz, file, config->label, &arrays.label, error);
    if (status == LADE_OK) {
        list_arrays(npz, &arrays);
        status = find_role(&arrays, config->key, file.name, &arrays.key, error);
    }
    if (status == LADE_OK)
        status = find_role(&arrays, config->group, file.name, &arrays.group, error);
    if (status == LADE_OK) {
        for (unsigned a = 0; a < LADE_FIELDS_MAX; a++)
            if (npz->map[a].data)
                maps[count++] = npz->map[a];
        status = lade_arrays_source(source, &arrays, maps, count, config->alloc, error);
    } else {
        lade_npz_drop(npz, config->alloc);
        lade_unmap(&file, config->alloc);
    }
    lade_heap_put(config->alloc, npz);
    return status;
}

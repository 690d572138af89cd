/* SPDX-License-Identifier: MIT */
/* Opening by text: "KIND:ITEM,ITEM,...", where an item is NAME=VALUE for the names that the kind knows, else a file. */
#define _POSIX_C_SOURCE 200809L
#include "heap.h"
#include "source_text.h"
#include "source_zip.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int open_synthetic(struct lade_source **source, struct items *it)
{
    struct lade_source_synthetic c;
    const char *shape = option(it, "shape"), *count = option(it, "count"), *copies = option(it, "duplicates"),
               *seed = option(it, "seed"), *end;
    int status = LADE_OK;

    lade_source_synthetic_default(&c);
    c.alloc = it->alloc;
    if (shape)
        status = dimensions(it, shape, &c.shape);
    if (status == LADE_OK && count) {
        if (!strcmp(count, "endless"))
            c.count = LADE_ENDLESS;
        else if (!digits(count, &c.count, &end) || *end)
            status = wrong(it, "count takes a number or endless, not", count);
        else if (c.count == LADE_ENDLESS) /* a number, not the word "endless" */
            status = wrong(it, "the number of samples is above 2^62:", count);
    }
    if (status == LADE_OK && copies) {
        bool good = digits(copies, &c.duplicates, &end);
        if (good && !strcmp(end, "%") && c.duplicates < 100) {
            c.duplicates = c.count / 100 * c.duplicates + c.count % 100 * c.duplicates / 100;
            end++;
        }
        if (!good || *end)
            status = wrong(it, "duplicates takes a number, or a number below 100 and %, not", copies);
    }
    if (status == LADE_OK)
        status = number(it, "classes", &c.classes);
    if (status == LADE_OK)
        status = number(it, "skew", &c.skew);
    if (status == LADE_OK && seed && !strcmp(seed, "random"))
        c.random_seed = true;
    else if (status == LADE_OK && seed && (!digits(seed, &c.seed, &end) || *end))
        status = wrong(it, "seed takes a number or random, not", seed);
    if (status == LADE_OK)
        status = all_taken(it);
    return status == LADE_OK ? lade_source_open_synthetic(source, &c, it->error) : status;
}

/* Files mapped so far; unmapped on failure. */
struct maps {
    struct lade_bytes map[LADE_EXTENTS_MAX + 1];
    unsigned count;
    uint64_t unpacked; /* limit for files compressed by gzip; 0: they are not unpacked */
};

static int map_one(struct maps *m, const char *path, struct items *it)
{
    if (!path || !*path)
        return wrong(it, "the name of a file is missing", "");
    if (m->count == LADE_EXTENTS_MAX)
        return wrong(it, "more than 16 files", "");
    int status = m->unpacked ? lade_map_unpacked(&m->map[m->count], path, m->unpacked, it->alloc, it->error)
                             : lade_map(&m->map[m->count], path, it->alloc, it->error);
    m->count += status == LADE_OK;
    return status;
}

static int finish_flat(struct lade_source **source, struct items *it, struct maps *m, const struct lade_flat *flat,
                       char **names, int status)
{
    if (status == LADE_OK)
        return lade_flat_source(source, it->kind, flat, m->map, m->count, names, it->alloc, it->error);
    while (m->count > 0)
        lade_unmap(&m->map[--m->count], it->alloc);
    lade_heap_put(it->alloc, names);
    return status;
}

static int unpacked_limit(struct items *it, uint64_t *to)
{
    int status = number(it, "unpacked", to);

    return status == LADE_OK && *to == 0 ? wrong(it, "unpacked takes a number of bytes above 0", "") : status;
}

static int open_idx(struct lade_source **source, struct items *it)
{
    struct maps m = {.unpacked = LADE_UNPACKED_MAX};
    struct lade_flat flat, labels;
    int status = unpacked_limit(it, &m.unpacked);
    const char *samples = next_file(it), *other = next_file(it);

    if (status == LADE_OK)
        status = all_taken(it);
    if (status == LADE_OK)
        status = map_one(&m, samples, it);
    if (status == LADE_OK)
        status = lade_idx_parse(&flat, m.map[0], it->error);
    if (status == LADE_OK && other) {
        status = map_one(&m, other, it);
        if (status == LADE_OK)
            status = lade_idx_parse(&labels, m.map[1], it->error);
        if (status == LADE_OK)
            status = lade_flat_take_labels(&flat, &labels, it->error);
    }
    return finish_flat(source, it, &m, &flat, NULL, status);
}

/* The length of NAME in an item NAME=FILE; 0: the item is a file. */
static size_t name_length(const char *item)
{
    size_t length = strspn(item, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");

    return item[length] == '=' ? length : 0;
}

#define OFFSETS ".offsets"

/* Maps the file of an item, and fills flat. */
static int map_field(struct items *it, char *file, struct lade_bytes *maps, unsigned *count, struct lade_flat *flat)
{
    int status =
        *file ? lade_map(&maps[*count], file, it->alloc, it->error) : wrong(it, "the name of a file is missing", "");

    *count += status == LADE_OK;
    return status == LADE_OK ? lade_npy_parse(flat, maps[*count - 1], it->error) : status;
}

/* Adds a field. The offsets of a ragged field are in NAME.offsets=FILE. */
static int add_field(struct items *it, struct lade_arrays *a, char *item, struct lade_bytes *maps, unsigned *count)
{
    struct lade_array *array = &a->array[a->arrays++];
    const size_t length = name_length(item);
    char offsets_name[LADE_FIELD_NAME_MAX + sizeof OFFSETS];
    struct lade_flat flat, offsets;

    item[length] = 0;
    if (length > LADE_FIELD_NAME_MAX)
        return wrong(it, "the name of a field is too long:", item);
    int status = map_field(it, item + length + 1, maps, count, &flat);
    if (status != LADE_OK)
        return status;
    if (flat.shape.dims > LADE_FIELD_DIMS_MAX)
        return wrong(it, "a field has at most 8 dimensions, unlike", item);
    *array = (struct lade_array){.field = {.name = item, .dtype = flat.shape.dtype, .dims = flat.shape.dims},
                                 .values = flat.extent[0].data,
                                 .steps = flat.count,
                                 .swap = flat.swap,
                                 .file = maps[*count - 1].name};
    memcpy(array->field.dim, flat.shape.dim, flat.shape.dims * sizeof *flat.shape.dim);
    (void)snprintf(offsets_name, sizeof offsets_name, "%s" OFFSETS, item);
    char *other = option(it, offsets_name);
    uint64_t samples = flat.count;
    if (other) {
        status = map_field(it, other, maps, count, &offsets);
        if (status != LADE_OK)
            return status;
        array->wide = offsets.shape.dtype == LADE_I64;
        array->offsets = offsets.extent[0].data;
        samples = offsets.count - 1;
        if (offsets.shape.dims > 0 || offsets.swap > 1 || (!array->wide && offsets.shape.dtype != LADE_I32))
            return wrong(it, "offsets are i32 or i64 of this machine, in one dimension, unlike", other);
    }
    if (a->arrays > 1 && samples != a->count)
        return lade_fail(it->error, LADE_DAMAGED, array->file, LADE_NO_OFFSET,
                         "%llu samples of field '%s', %llu of field '%s'", (unsigned long long)samples, item,
                         (unsigned long long)a->count, a->array[0].field.name);
    a->count = samples;
    return LADE_OK;
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    return length > strlen(end) && !strncmp(text + length - strlen(end), end, strlen(end));
}

/* Each item is NAME=FILE. A field "label" that is one integer is the label, "key" and "group" are key and group. */
static int open_fields(struct lade_source **source, struct items *it)
{
    struct lade_arrays a = {.kind = it->kind, .label = LADE_NO_FIELD, .key = LADE_NO_FIELD, .group = LADE_NO_FIELD};
    struct lade_bytes maps[2 * LADE_FIELDS_MAX];
    unsigned count = 0;
    int status = LADE_OK;

    for (unsigned i = 0; i < it->count && status == LADE_OK; i++) {
        if (ends_with(it->item[i], name_length(it->item[i]), OFFSETS))
            continue;
        it->taken[i] = true;
        status = a.arrays == LADE_FIELDS_MAX ? wrong(it, "more than 16 fields", "")
                                             : add_field(it, &a, it->item[i], maps, &count);
    }
    if (status == LADE_OK)
        status = all_taken(it);
    for (unsigned f = 0; f < a.arrays; f++) {
        const struct lade_array *array = &a.array[f];
        if (status == LADE_OK && !strcmp(array->field.name, "label") && lade_dtype_is_integer(array->field.dtype) &&
            array->field.dims == 0 && !array->offsets)
            a.label = (int)f;
        if (status == LADE_OK && !strcmp(array->field.name, "key"))
            a.key = (int)f;
        if (status == LADE_OK && !strcmp(array->field.name, "group"))
            a.group = (int)f;
    }
    if (status == LADE_OK)
        return lade_arrays_source(source, &a, maps, count, it->alloc, it->error);
    while (count > 0)
        lade_unmap(&maps[--count], it->alloc);
    return status;
}

/* Whether an item is NAME=FILE, and not the name of a file as a whole. */
static bool is_named(const char *item)
{
    struct stat about;

    return name_length(item) > 0 && stat(item, &about) != 0;
}

static int open_npy(struct lade_source **source, struct items *it)
{
    struct maps m = {.unpacked = LADE_UNPACKED_MAX};
    struct lade_flat flat, labels;
    unsigned named = 0;

    for (unsigned i = 0; i < it->count; i++)
        named += is_named(it->item[i]);
    if (named > 0 && named == it->count)
        return open_fields(source, it);
    int status = unpacked_limit(it, &m.unpacked);
    const char *other = option(it, "labels"), *samples = next_file(it);

    if (status == LADE_OK)
        status = all_taken(it);
    if (status == LADE_OK)
        status = map_one(&m, samples, it);
    if (status == LADE_OK)
        status = lade_npy_parse(&flat, m.map[0], it->error);
    if (status == LADE_OK && other) {
        status = map_one(&m, other, it);
        if (status == LADE_OK)
            status = lade_npy_parse(&labels, m.map[1], it->error);
        if (status == LADE_OK)
            status = lade_flat_take_labels(&flat, &labels, it->error);
    }
    return finish_flat(source, it, &m, &flat, NULL, status);
}

static int records_label(struct items *it, struct lade_records *r)
{
    const char *value = option(it, "label"), *at = value;
    uint64_t width = 0;

    if (!value)
        return LADE_OK;
    if (!digits(at, &r->label_at, &at) || *at != ':' || !digits(at + 1, &width, &at) || *at || width < 1 || width > 8)
        return wrong(it, "label takes OFFSET:BYTES with 1 to 8 bytes, not", value);
    r->label_width = (unsigned)width;
    return LADE_OK;
}

static int records_shape(struct items *it, struct lade_records *r)
{
    const char *shape = option(it, "shape"), *dtype = option(it, "dtype");
    unsigned d = LADE_U8;

    if (dtype) {
        for (d = 0; lade_dtype_name((enum lade_dtype)d) && strcmp(lade_dtype_name((enum lade_dtype)d), dtype) != 0; d++)
            continue;
        if (!lade_dtype_name((enum lade_dtype)d))
            return wrong(it, "there is no dtype", dtype);
    }
    r->shape.dtype = (enum lade_dtype)d;
    r->shaped = shape || dtype;
    if (shape)
        return dimensions(it, shape, &r->shape);
    size_t size = lade_dtype_size(r->shape.dtype);
    r->shape.dims = 1;
    r->shape.dim[0] = r->size > r->label_width ? (r->size - r->label_width) / size : 0;
    return LADE_OK;
}

static int open_records(struct lade_source **source, struct items *it)
{
    struct maps m = {.count = 0};
    struct lade_records r = {.size = 0};
    struct lade_flat flat;
    int status = number(it, "size", &r.size);

    if (status == LADE_OK && r.size == 0)
        status = wrong(it, "size=N, the bytes of a record, is missing", "");
    if (status == LADE_OK)
        status = number(it, "header", &r.header);
    if (status == LADE_OK)
        status = number(it, "classes", &r.classes);
    if (status == LADE_OK)
        status = records_label(it, &r);
    if (status == LADE_OK)
        status = records_shape(it, &r);
    const char *file = next_file(it);
    if (status == LADE_OK)
        status = all_taken(it);
    if (status == LADE_OK)
        status = map_one(&m, file, it);
    if (status == LADE_OK)
        status = lade_records_parse(&flat, &r, m.map[0], it->error);
    return finish_flat(source, it, &m, &flat, NULL, status);
}

static int add_cifar(struct lade_flat *flat, struct maps *m, enum lade_cifar_labels kind, const char *path,
                     struct items *it)
{
    int status = map_one(m, path, it);

    return status == LADE_OK ? lade_cifar_add(flat, kind, m->map[m->count - 1], it->error) : status;
}

/* "DIR/FILE" in a buffer; false if it does not fit. */
static bool below(char *to, size_t size, const char *folder, const char *file)
{
    int length = snprintf(to, size, "%s/%s", folder, file);

    return length > 0 && (size_t)length < size;
}

static int add_folder(struct lade_flat *flat, struct maps *m, enum lade_cifar_labels kind, const char *folder,
                      const char *part, struct items *it)
{
    static const char *const files_10[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};
    static const char *const files_100[] = {"train.bin", "test.bin"};
    const char *const *files = kind == LADE_CIFAR_10 ? files_10 : files_100;
    unsigned train = kind == LADE_CIFAR_10 ? 5 : 1;
    bool test_only = part && !strcmp(part, "test"), all = part && !strcmp(part, "all");

    if (part && !test_only && !all && strcmp(part, "train") != 0)
        return wrong(it, "part is train, test or all, not", part);
    for (unsigned f = test_only ? train : 0; f < (test_only || all ? train + 1 : train); f++) {
        char path[4096];
        if (!below(path, sizeof path, folder, files[f]))
            return wrong(it, "the name of the folder is too long", "");
        int status = add_cifar(flat, m, kind, path, it);
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

static char **cifar_names(enum lade_cifar_labels kind, const char *folder, const struct lade_alloc *alloc)
{
    static const char *const files[] = {"batches.meta.txt", "coarse_label_names.txt", "fine_label_names.txt"};
    static const uint64_t classes[] = {10, 20, 100};
    struct lade_bytes text;
    char path[4096], **names = NULL;

    if (below(path, sizeof path, folder, files[kind]) && lade_map(&text, path, alloc, NULL) == LADE_OK) {
        names = lade_class_names(text, classes[kind], alloc);
        lade_unmap(&text, alloc);
    }
    return names;
}

static int open_cifar(struct lade_source **source, struct items *it)
{
    const char *part = option(it, "part");
    bool hundred = !strcmp(it->kind, "cifar100");
    const char *labels = hundred ? option(it, "labels") : NULL, *path = next_file(it);
    enum lade_cifar_labels kind = hundred ? LADE_CIFAR_100_FINE : LADE_CIFAR_10;
    struct maps m = {.count = 0};
    struct lade_flat flat = {.count = 0};
    struct stat about;
    char **names = NULL;
    int status = LADE_OK;

    if (labels && !strcmp(labels, "coarse"))
        kind = LADE_CIFAR_100_COARSE;
    else if (labels && strcmp(labels, "fine") != 0)
        return wrong(it, "labels is fine or coarse, not", labels);
    if (path && stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        status = all_taken(it);
        if (status == LADE_OK)
            status = add_folder(&flat, &m, kind, path, part, it);
        if (status == LADE_OK)
            names = cifar_names(kind, path, it->alloc);
    } else if (part) {
        status = wrong(it, "part needs a folder, not single files", "");
    } else {
        do
            status = add_cifar(&flat, &m, kind, path, it);
        while (status == LADE_OK && (path = next_file(it)));
    }
    return finish_flat(source, it, &m, &flat, names, status);
}

static int open_npz(struct lade_source **source, struct items *it)
{
    struct lade_npz_config config = {.label = option(it, "label"),
                                     .key = option(it, "key"),
                                     .group = option(it, "group"),
                                     .limit = LADE_UNPACKED_MAX,
                                     .alloc = it->alloc};
    struct lade_bytes map;
    int status = unpacked_limit(it, &config.limit);
    const char *name, *file, *check = option(it, "check");

    config.unchecked = check && !strcmp(check, "no");
    if (status == LADE_OK && check && !config.unchecked && strcmp(check, "yes") != 0)
        status = wrong(it, "check is yes or no, not", check);
    while ((name = option(it, "field"))) {
        if (config.count == LADE_FIELDS_MAX)
            return wrong(it, "more than 16 fields", "");
        config.names[config.count++] = name;
    }
    file = next_file(it);
    if (status == LADE_OK)
        status = all_taken(it);
    if (status == LADE_OK)
        status = no_file(it, file);
    if (status == LADE_OK)
        status = lade_map(&map, file, it->alloc, it->error);
    return status == LADE_OK ? lade_npz_open(source, map, &config, it->error) : status;
}

static int open_images(struct lade_source **source, struct items *it)
{
    struct lade_picture picture = {.pixels_max = LADE_PIXELS_MAX};
    int status = number(it, "pixels", &picture.pixels_max);
    const char *size = option(it, "size"), *folder = next_file(it);
    struct lade_shape shape = {.dtype = LADE_U8, .dims = 0};

    if (status == LADE_OK && (picture.pixels_max == 0 || picture.pixels_max > UINT32_MAX))
        status = wrong(it, "pixels takes a number from 1 to 2^32 - 1", "");
    if (status == LADE_OK)
        status = all_taken(it);
    if (status == LADE_OK && (!folder || !*folder))
        status = wrong(it, "the name of a folder is missing", "");
    if (status == LADE_OK && size) {
        status = dimensions(it, size, &shape);
        if (status == LADE_OK && (shape.dims != 2 || shape.dim[0] > 16384 || shape.dim[1] > 16384))
            status = wrong(it, "size takes HEIGHTxWIDTH, each up to 16384, not", size);
        picture.height = (uint32_t)shape.dim[0];
        picture.width = (uint32_t)shape.dim[1];
    }
    return status == LADE_OK ? lade_images_open(source, folder, picture, it->alloc, it->error) : status;
}

int lade_source_open(struct lade_source **source, const char *text, const struct lade_alloc *alloc,
                     struct lade_error *error)
{
    static const struct {
        const char *name;
        int (*open)(struct lade_source **source, struct items *it);
    } kinds[] = {{"synthetic", open_synthetic},
                 {"cifar10", open_cifar},
                 {"cifar100", open_cifar},
                 {"idx", open_idx},
                 {"npy", open_npy},
                 {"records", open_records},
                 {"images", open_images},
                 {"tokens", lade_open_tokens},
                 {"megatron", lade_open_megatron},
                 {"tfrecord", lade_open_tfrecord},
                 {"tar", lade_open_tar},
                 {"parquet", lade_open_parquet},
                 {"npz", open_npz}};
    size_t length = strcspn(text, ":");

    *source = NULL;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strlen(kinds[k].name) != length || strncmp(text, kinds[k].name, length) != 0)
            continue;
        struct items it = {.kind = kinds[k].name, .alloc = alloc, .error = error};
        char *copy = lade_heap_text(alloc, text);
        if (!copy)
            return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
        int status = cut(&it, copy + length + (text[length] == ':'));
        if (status == LADE_OK)
            status = kinds[k].open(source, &it);
        lade_heap_put(alloc, copy);
        return status;
    }
    return lade_fail(
        error, LADE_INVALID, NULL, LADE_NO_OFFSET,
        "'%.100s' names no source; there are synthetic, cifar10, cifar100, idx, npy, records, images, tokens, "
        "megatron, tfrecord, tar, parquet and npz",
        text);
}

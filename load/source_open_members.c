/* SPDX-License-Identifier: MIT */
/* Opening TFRecord, tar and tokens by text. */
#define _POSIX_C_SOURCE 200809L
#include "index_file.h"
#include "source_members.h"
#include "source_zip.h"

#include "heap.h"

enum { PATH_LENGTH = 4096, FILES_MAX = 65536 };

/* The maps of all files. */
struct files {
    struct lade_bytes *file;
    uint64_t count, space;
    uint64_t unpacked; /* bytes that files may still unpack to */
    struct lade_index index;
};

static void drop(struct files *files, const struct items *it)
{
    for (uint64_t i = 0; i < files->count; i++)
        lade_unmap(&files->file[i], it->alloc);
    lade_heap_put(it->alloc, files->file);
}

/* A file that is compressed as a whole is unpacked, since its samples are read in any order. */
static int map_or_unpack(struct files *files, struct lade_bytes *file, const char *path, struct items *it)
{
    struct lade_bytes packed;
    struct lade_stamp stamp;
    int status = lade_map_stamped(&packed, &stamp, path, it->alloc, it->error);
    if (status == LADE_OK) {
        stamp.sample = lade_index_sample(packed);
        lade_index_add(&files->index, path, &stamp);
    }
    const enum lade_packing packing = status == LADE_OK ? lade_packing_of(packed) : LADE_STORED;

    *file = packed;
    if (packing == LADE_STORED)
        return status;
    status = lade_unpack(file, packed, 0, packing, files->unpacked, it->alloc, it->error);
    lade_unmap(&packed, it->alloc);
    files->unpacked -= status == LADE_OK ? file->size : 0;
    return status;
}

static int map_file(void *context, const char *path, struct items *it)
{
    struct files *files = context;
    int status = no_file(it, path);

    if (status == LADE_OK && files->count == FILES_MAX)
        status = wrong(it, "more than 65536 files", "");
    if (status == LADE_OK && files->count == files->space) {
        const uint64_t space = files->space ? 2 * files->space : 16;
        struct lade_bytes *more = lade_heap_resize(it->alloc, files->file, (size_t)space, sizeof *more);
        if (!more)
            return lade_fail(it->error, LADE_NO_MEMORY, it->kind, LADE_NO_OFFSET, "out of memory");
        files->file = more;
        files->space = space;
    }
    if (status == LADE_OK)
        status = map_or_unpack(files, &files->file[files->count], path, it);
    files->count += status == LADE_OK;
    return status;
}

int lade_each_path(struct items *it, const char *path, int (*each)(void *context, const char *path, struct items *it),
                   void *context)
{
    const char *open = path ? strchr(path, '{') : NULL, *at = open ? open + 1 : NULL, *middle;
    char name[PATH_LENGTH];
    uint64_t from, to;

    if (!open || !digits(at, &from, &middle) || strncmp(middle, "..", 2) != 0 || !digits(middle + 2, &to, &at) ||
        *at != '}')
        return each(context, path, it);
    if (from > to || to - from >= FILES_MAX)
        return wrong(it, "{A..B} has A not above B, and at most 65536 numbers, unlike", path);
    for (uint64_t n = from;; n++) {
        const int width = (int)(middle - open) - 1;
        if (snprintf(name, sizeof name, "%.*s%0*llu%s", (int)(open - path), path, width, (unsigned long long)n,
                     at + 1) >= (int)sizeof name)
            return wrong(it, "the name of a file is too long", "");
        int status = each(context, name, it);
        if (status != LADE_OK || n == to) /* to may be the largest number */
            return status;
    }
}

int lade_open_tokens(struct lade_source **source, struct items *it)
{
    struct lade_tokens t = {.dtype = LADE_U16};
    struct lade_bytes maps[LADE_EXTENTS_MAX + 1];
    struct lade_flat flat = {.count = 0};
    const char *dtype = option(it, "dtype"), *path;
    unsigned count = 0;
    int status = number(it, "length", &t.length);

    if (status == LADE_OK && t.length == 0)
        status = wrong(it, "length=N, the tokens of a sequence, is missing", "");
    t.stride = t.length;
    if (status == LADE_OK)
        status = number(it, "stride", &t.stride);
    if (status == LADE_OK)
        status = number(it, "header", &t.header);
    if (status == LADE_OK && dtype && (!dtype_named(dtype, &t.dtype) || !lade_dtype_is_integer(t.dtype)))
        status = wrong(it, "dtype takes the name of an integer type, such as u16, not", dtype);
    path = next_file(it);
    do {
        if (status == LADE_OK)
            status = no_file(it, path);
        if (status == LADE_OK && count == LADE_EXTENTS_MAX)
            status = wrong(it, "more than 16 files", "");
        if (status == LADE_OK && (status = lade_map(&maps[count], path, it->alloc, it->error)) == LADE_OK)
            status = lade_tokens_add(&flat, &t, maps[count++], it->error);
    } while (status == LADE_OK && (path = next_file(it)));
    if (status == LADE_OK)
        return lade_flat_source(source, it->kind, &flat, maps, count, NULL, it->alloc, it->error);
    while (count > 0)
        lade_unmap(&maps[--count], it->alloc);
    return status;
}

int lade_open_megatron(struct lade_source **source, struct items *it)
{
    const char *samples = option(it, "samples"), *prefix = next_file(it);
    char index[PATH_LENGTH], data[PATH_LENGTH];
    int status = all_taken(it);

    if (status == LADE_OK)
        status = no_file(it, prefix);
    if (status == LADE_OK && samples && strcmp(samples, "documents") != 0 && strcmp(samples, "sequences") != 0)
        status = wrong(it, "samples are documents or sequences, not", samples);
    if (status != LADE_OK)
        return status;
    size_t length = strlen(prefix);
    if (length > 4 && (!strcmp(prefix + length - 4, ".bin") || !strcmp(prefix + length - 4, ".idx")))
        length -= 4;
    if (length + 5 > sizeof data)
        return wrong(it, "the name of a file is too long", "");
    (void)snprintf(index, sizeof index, "%.*s.idx", (int)length, prefix);
    (void)snprintf(data, sizeof data, "%.*s.bin", (int)length, prefix);
    return lade_megatron_open(source, index, data, !samples || !strcmp(samples, "documents"), it->alloc, it->error);
}

/* AxB, or *xAxB for a ragged field; * alone is one ragged dimension. */
static int field_shape(struct items *it, const char *text, struct lade_value_field *f)
{
    struct lade_shape shape = {.dtype = f->field.dtype};
    const bool ragged = *text == '*';
    const char *rest = ragged ? text + 1 + (text[1] == 'x') : text;
    int status = ragged && !text[1] ? LADE_OK : dimensions(it, rest, &shape);

    if (status == LADE_OK && ((ragged && text[1] && text[1] != 'x') || shape.dims > LADE_FIELD_DIMS_MAX))
        status = wrong(it, "a field has up to 8 dimensions, as in 8x8 or *x8, not", text);
    f->shaped = true;
    f->field.ragged_max = ragged ? UINT64_MAX : 0;
    f->field.dims = status == LADE_OK ? shape.dims : 0;
    memcpy(f->field.dim, shape.dim, f->field.dims * sizeof *shape.dim);
    return status;
}

static int field_type(struct items *it, const char *type, bool shaped, struct lade_value_field *f)
{
    static const struct {
        const char *name;
        enum lade_value_kind kind;
        enum lade_dtype dtype;
    } types[] = {{"image", LADE_VALUE_IMAGE, LADE_U8},
                 {"int", LADE_VALUE_INTEGER, LADE_I64},
                 {"json", LADE_VALUE_JSON, LADE_F64},
                 {"npy", LADE_VALUE_NPY, LADE_U8}};

    f->typed = true;
    f->kind = LADE_VALUE_RAW;
    if (dtype_named(type, &f->field.dtype))
        return LADE_OK;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (!strcmp(types[t].name, type) && !shaped) {
            f->kind = types[t].kind;
            f->field.dtype = types[t].dtype;
            return LADE_OK;
        }
    return wrong(it,
                 shaped ? "a field with a shape has an element type such as u8, not"
                        : "a field is image, int, json, npy or of an element type such as u8, not",
                 type);
}

/* NAME, NAME:TYPE or NAME:TYPE:SHAPE. */
static int declare(struct items *it, char *text, struct lade_value_field *f)
{
    char *type = strchr(text, ':'), *shape = type ? strchr(type + 1, ':') : NULL;

    if (type)
        *type++ = 0;
    if (shape)
        *shape++ = 0;
    *f = (struct lade_value_field){.field = {.name = text, .dtype = LADE_U8}};
    if (!*text || strlen(text) > 63)
        return wrong(it, "the name of a field has 1 to 63 characters, unlike", text);
    int status = type ? field_type(it, type, shape != NULL, f) : LADE_OK;
    return status == LADE_OK && shape ? field_shape(it, shape, f) : status;
}

static int declared_fields(struct items *it, struct lade_members_config *config)
{
    char *text;
    int status = LADE_OK;

    while (status == LADE_OK && (text = option(it, "field"))) {
        if (config->fields == LADE_FIELDS_MAX)
            return wrong(it, "more than 16 fields", "");
        status = declare(it, text, &config->field[config->fields]);
        for (unsigned f = 0; f < config->fields && status == LADE_OK; f++)
            if (!strcmp(config->field[f].field.name, text))
                status = wrong(it, "declared twice: field", text);
        config->fields++;
    }
    return status;
}

static int image_size(struct items *it, struct lade_picture *to)
{
    const char *size = option(it, "size");
    struct lade_shape shape = {.dtype = LADE_U8, .dims = 0};

    to->pixels_max = LADE_PIXELS_MAX;
    int status = number(it, "pixels", &to->pixels_max);
    if (status == LADE_OK && (to->pixels_max == 0 || to->pixels_max > UINT32_MAX))
        status = wrong(it, "pixels takes a number from 1 to 2^32 - 1", "");
    if (status != LADE_OK || !size)
        return status;
    status = dimensions(it, size, &shape);
    if (status == LADE_OK && (shape.dims != 2 || shape.dim[0] > 16384 || shape.dim[1] > 16384))
        status = wrong(it, "size takes HEIGHTxWIDTH, each up to 16384, not", size);
    to->height = (uint32_t)shape.dim[0];
    to->width = (uint32_t)shape.dim[1];
    return status;
}

static int take_options(struct files *files, const struct lade_members_format *format,
                        struct lade_members_config *config, struct items *it)
{
    const char *check = format == &lade_tfrecord ? option(it, "check") : NULL;
    int status = declared_fields(it, config);

    config->unchecked = check && !strcmp(check, "no");
    if (status == LADE_OK && check && !config->unchecked && strcmp(check, "yes") != 0)
        status = wrong(it, "check is yes or no, not", check);
    if (status == LADE_OK)
        status = number(it, "classes", &config->classes);
    if (status == LADE_OK && config->classes > LADE_CLASSES_MAX)
        status = wrong(it, "classes is above 2^24", "");
    if (status == LADE_OK)
        status = image_size(it, &config->size);
    if (status == LADE_OK)
        status = number(it, "unpacked", &files->unpacked);
    if (status == LADE_OK && files->unpacked == 0)
        status = wrong(it, "unpacked takes a number of bytes above 0", "");
    config->unpacked = files->unpacked;
    return status;
}

static int open_members(struct lade_source **source, const struct lade_members_format *format, struct items *it)
{
    struct files files = {.unpacked = LADE_UNPACKED_MAX};
    int status = lade_index_begin(&files.index, it);
    struct lade_members_config config = {
        .label = option(it, "label"), .key = option(it, "key"), .group = option(it, "group"), .alloc = it->alloc};

    if (status == LADE_OK)
        status = take_options(&files, format, &config, it);
    lade_index_options(&files.index, it);
    const char *path = next_file(it);
    do
        if (status == LADE_OK)
            status = lade_each_path(it, path, map_file, &files);
    while (status == LADE_OK && (path = next_file(it)));
    if (status == LADE_OK)
        status = lade_members_open(source, format, &config, files.file, files.count, true, &files.index, it->error);
    else
        drop(&files, it);
    lade_index_end(&files.index);
    return status;
}

int lade_open_tfrecord(struct lade_source **source, struct items *it)
{
    return open_members(source, &lade_tfrecord, it);
}

int lade_open_tar(struct lade_source **source, struct items *it)
{
    return open_members(source, &lade_tar, it);
}

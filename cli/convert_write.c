/* SPDX-License-Identifier: MIT */
/* lade convert: samples in their order, and the files of the result. */
#define _POSIX_C_SOURCE 200809L
#include "convert.h"

#include "checksum.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

uint64_t convert_sample(const struct convert *c, uint64_t position)
{
    const uint64_t at = c->shuffled ? lade_permutation_at(&c->permutation, position) : position;

    return c->member ? c->member[at] : at;
}

int convert_read(struct convert *c, uint64_t position)
{
    struct lade_error error;

    return whole_read(&c->sample, c->source, convert_sample(c, position), &error) == LADE_OK
               ? EXIT_DONE
               : source_trouble("convert", &error);
}

/* An integer of any type as i64. */
static int64_t integer_at(enum lade_dtype dtype, const uint8_t *at)
{
    const size_t width = lade_dtype_size(dtype);
    const bool is_signed = dtype == LADE_I8 || dtype == LADE_I16 || dtype == LADE_I32 || dtype == LADE_I64;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;

    memcpy(&u8, at, sizeof u8);
    switch (width) {
    case 1:
        return is_signed ? (int64_t)(int8_t)u8 : (int64_t)u8;
    case 2:
        memcpy(&u16, at, sizeof u16);
        return is_signed ? (int64_t)(int16_t)u16 : (int64_t)u16;
    case 4:
        memcpy(&u32, at, sizeof u32);
        return is_signed ? (int64_t)(int32_t)u32 : (int64_t)u32;
    default:
        memcpy(&u64, at, sizeof u64);
        return (int64_t)u64;
    }
}

static int widen(struct convert *c, enum lade_dtype dtype, struct value *v)
{
    const size_t width = lade_dtype_size(dtype), count = v->size / width;

    if (count > SIZE_MAX / 16)
        return convert_no_memory();
    if (8 * count > c->integers_room) {
        uint8_t *more = realloc(c->integers, 8 * count);
        if (!more)
            return convert_no_memory();
        c->integers = more;
        c->integers_room = 8 * count;
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t number = integer_at(dtype, v->data + i * width);
        memcpy(c->integers + 8 * i, &number, sizeof number);
    }
    v->data = c->integers;
    v->size = 8 * count;
    return EXIT_DONE;
}

int convert_value(struct convert *c, unsigned column, uint64_t position, struct value *value)
{
    const struct column *to = &c->column[column];
    const struct lade_field *from = &lade_source_schema(c->source)->field[to->from];
    const struct lade_view *view = &c->sample.view[to->from];
    struct shard *shard = &c->shard[c->shard_size ? position / c->shard_size : 0];
    int code = EXIT_DONE;

    *value = (struct value){view->data, lade_field_bytes(from) * (size_t)view->length, view->length};
    if (from->dtype != to->field.dtype)
        code = widen(c, from->dtype, value);
    shard->checksum[column] = convert_checksum(shard->checksum[column], value->data, value->size);
    return code;
}

/* The bytes of a value and how many there are, so that steps cannot move from one sample to the next unnoticed. */
uint32_t convert_checksum(uint32_t before, const uint8_t *data, size_t size)
{
    uint8_t count[8];

    lade_write_number(count, size, sizeof count);
    return lade_crc32c(lade_crc32c(before, data, size), count, sizeof count);
}

char *convert_file(const struct convert *c, uint64_t shard, unsigned column, bool offsets)
{
    const size_t size = strlen(c->out) + NAME_SPACE + 64;
    char *path = malloc(size);

    if (!path)
        return NULL;
    if (c->format == TO_NPY)
        (void)snprintf(path, size, "%s.%s%s.npy", c->base, c->column[column].name, offsets ? ".offsets" : "");
    else if (c->shard_size)
        (void)snprintf(path, size, "%s-%05llu.%s", c->base, (big)shard, convert_formats[c->format]);
    else
        (void)snprintf(path, size, "%s", c->out);
    return path;
}

static uint64_t file_bytes(const struct convert *c, uint64_t shard, unsigned column, bool offsets)
{
    char *path = convert_file(c, shard, column, offsets);
    struct stat about;
    const bool there = path && stat(path, &about) == 0;

    free(path);
    return there ? (uint64_t)about.st_size : UINT64_MAX;
}

uint64_t convert_shard_bytes(const struct convert *c, uint64_t shard)
{
    uint64_t sum = 0;

    for (unsigned f = 0; f < (c->format == TO_NPY ? c->columns : 1); f++)
        for (int offsets = 0; offsets < 1 + (c->format == TO_NPY && c->column[f].field.ragged_max > 0); offsets++) {
            const uint64_t bytes = file_bytes(c, shard, f, offsets);
            if (bytes == UINT64_MAX)
                return UINT64_MAX;
            sum += bytes;
        }
    return sum;
}

/* The files that are written at the same time: one, or with npy two for each field. */
struct files {
    struct output output[2 * LADE_FIELDS_MAX];
    char *path[2 * LADE_FIELDS_MAX];
    unsigned count;
};

static int add_file(struct convert *c, struct files *files, uint64_t shard, unsigned column, bool offsets)
{
    char *path = convert_file(c, shard, column, offsets);

    if (!path)
        return convert_no_memory();
    if (!output_begin(&files->output[files->count], "convert", path)) {
        free(path);
        return EXIT_TROUBLE;
    }
    files->path[files->count++] = path;
    return EXIT_DONE;
}

static int end_files(struct files *files, int code)
{
    for (unsigned i = 0; i < files->count; i++) {
        if (code != EXIT_DONE)
            output_drop(&files->output[i]);
        else if (!output_end(&files->output[i]))
            code = EXIT_TROUBLE;
        free(files->path[i]);
    }
    return code;
}

/* A write that failed is reported by output_end(); until then nothing more is read. */
static bool failed(const struct files *files)
{
    for (unsigned i = 0; i < files->count; i++)
        if (ferror(files->output[i].to))
            return true;
    return false;
}

static int put_records(struct convert *c, struct files *files, uint64_t position)
{
    struct value label = {NULL, 0, 0}, tensor;
    uint8_t bytes[8];
    int code = EXIT_DONE;

    if (c->label != LADE_NO_FIELD) {
        code = convert_value(c, (unsigned)c->label, position, &label);
        if (code != EXIT_DONE)
            return code;
        lade_write_number(bytes, (uint64_t)integer_at(LADE_I64, label.data), (int)c->label_width);
        fwrite(bytes, 1, c->label_width, files->output[0].to);
    }
    code = convert_value(c, c->label == 0 ? 1 : 0, position, &tensor);
    if (code == EXIT_DONE)
        fwrite(tensor.data, 1, tensor.size, files->output[0].to);
    return code;
}

static int begin_npy(struct convert *c, struct files *files)
{
    const struct lade_field offset = {.name = "", .dtype = LADE_I64};
    const uint8_t zero[8] = {0};
    uint8_t header[NPY_HEADER];
    int code = EXIT_DONE;

    for (unsigned f = 0; f < c->columns && code == EXIT_DONE; f++) {
        const struct lade_field *field = &c->column[f].field;
        code = add_file(c, files, 0, f, false);
        if (code != EXIT_DONE)
            return code;
        const uint64_t lead = field->ragged_max ? c->column[f].steps : c->count;
        fwrite(header, 1, convert_npy_header(header, field, lead), files->output[files->count - 1].to);
        if (field->ragged_max == 0)
            continue;
        code = add_file(c, files, 0, f, true);
        if (code != EXIT_DONE)
            return code;
        fwrite(header, 1, convert_npy_header(header, &offset, c->count + 1), files->output[files->count - 1].to);
        fwrite(zero, 1, sizeof zero, files->output[files->count - 1].to);
    }
    return code;
}

static int put_npy(struct convert *c, struct files *files, uint64_t position, uint64_t *end)
{
    unsigned file = 0;

    for (unsigned f = 0; f < c->columns; f++) {
        struct value v;
        const int code = convert_value(c, f, position, &v);
        if (code != EXIT_DONE)
            return code;
        fwrite(v.data, 1, v.size, files->output[file++].to);
        end[f] += v.steps;
        if (c->column[f].field.ragged_max > 0)
            fwrite(&end[f], 1, sizeof end[f], files->output[file++].to);
    }
    return EXIT_DONE;
}

static int put_sample(struct convert *c, struct files *files, uint64_t position, uint64_t *end)
{
    const int code = convert_read(c, position);

    if (code != EXIT_DONE)
        return code;
    switch (c->format) {
    case TO_RECORDS:
        return put_records(c, files, position);
    case TO_NPY:
        return put_npy(c, files, position, end);
    case TO_TAR:
        return convert_put_members(c, &files->output[0], position);
    default:
        return convert_put_record(c, &files->output[0], position);
    }
}

static int write_shard(struct convert *c, uint64_t number, uint64_t *written, uint64_t total)
{
    static const uint8_t end_of_tar[1024];
    const uint64_t first = number * c->shard_size, size = c->shard_size ? c->shard_size : c->count;
    uint64_t end[LADE_FIELDS_MAX] = {0};
    struct files files = {.count = 0};
    struct shard *shard = &c->shard[number];
    int code = c->format == TO_NPY ? begin_npy(c, &files) : add_file(c, &files, number, 0, false);

    memset(shard->checksum, 0, sizeof shard->checksum);
    for (uint64_t p = first; p < c->count && p - first < size && code == EXIT_DONE && !failed(&files); p++) {
        if (*written % 64 == 0)
            progress_line("writing", "samples", *written, total);
        code = put_sample(c, &files, p, end);
        ++*written;
    }
    if (code == EXIT_DONE && c->format == TO_TAR)
        fwrite(end_of_tar, 1, sizeof end_of_tar, files.output[0].to);
    code = end_files(&files, code);
    if (code != EXIT_DONE)
        return code;
    shard->bytes = convert_shard_bytes(c, number);
    shard->done = true;
    return convert_save_state(c);
}

int convert_write(struct convert *c)
{
    uint64_t total = 0, written = 0;
    int code = EXIT_DONE;

    for (uint64_t s = 0; s < c->shards; s++)
        if (!c->shard[s].done)
            total += c->shard_size == 0 ? c->count : s + 1 < c->shards ? c->shard_size : c->count - s * c->shard_size;
    for (uint64_t s = 0; s < c->shards && code == EXIT_DONE; s++)
        if (!c->shard[s].done)
            code = write_shard(c, s, &written, total);
    progress_line("writing", "samples", 1, 1);
    return code;
}

/* SPDX-License-Identifier: MIT */
/* Any bytes as a file of samples with several values: an error with its place, or samples that can be read. */
#ifndef LADE_FUZZ_SOURCE_MEMBERS_H
#define LADE_FUZZ_SOURCE_MEMBERS_H

#include "source_fuzz.h"
#include "source_members.h"

#include "heap.h"

enum { BYTES_MAX = 1 << 22 };

/* Reads sample i, each field into a block of exactly its size, a ragged one also without its first step. */
static inline void read_sample(struct lade_source *source, uint64_t i, uint64_t less, size_t size)
{
    const struct lade_schema *schema = lade_source_schema(source);
    struct lade_view views[LADE_FIELDS_MAX];
    struct lade_error error = {.status = 0};

    for (unsigned f = 0; f < schema->fields; f++) {
        const struct lade_field *field = &schema->field[f];
        uint64_t length = 0, bytes = lade_dtype_size(field->dtype) * lade_field_elements(field);
        must(lade_source_length(source, i, f, &length, &error) == LADE_OK);
        must(field->ragged_max ? length <= field->ragged_max : length == 1);
        const uint64_t from = field->ragged_max && length > less ? less : 0;
        bytes *= length - from;
        views[f] = (struct lade_view){bytes <= BYTES_MAX ? malloc(bytes ? bytes : 1) : NULL, from, length - from};
        must(views[f].data || bytes > BYTES_MAX);
    }
    int status = lade_source_read_fields(source, i, views, &error);
    if (status != LADE_OK)
        check_error(status, &error, size);
    for (unsigned f = 0; f < schema->fields; f++)
        free(views[f].data);
}

static inline void check_members(const struct lade_members_format *format, const struct lade_members_config *config,
                                 const uint8_t *data, size_t size)
{
    struct lade_error error = {.status = 0};
    struct lade_bytes *file = lade_heap_raw(NULL, 1, sizeof *file);
    struct lade_source *source;

    must(file);
    *file = (struct lade_bytes){data, size, "input"};
    int status = lade_members_open(&source, format, config, file, 1, false, NULL, &error);
    if (status != LADE_OK) {
        check_error(status, &error, size);
        return;
    }
    const struct lade_source_info *info = lade_source_info(source);
    must(info->count > 0 && info->count <= size && lade_source_schema(source)->fields > 0);
    for (uint64_t i = 0; i < info->count; i++) {
        char name[64];
        int64_t label = -2;
        read_sample(source, i, i & 1, size);
        lade_source_name(source, i, name, sizeof name);
        must(memchr(name, 0, sizeof name) != NULL);
        (void)lade_source_key(source, i);
        status = lade_source_label(source, i, &label, &error);
        must(status != LADE_OK || label == LADE_NO_LABEL || (uint64_t)label < info->classes);
    }
    lade_source_close(source);
}

/* Several sets of declared fields, and none. */
static inline void configure(struct lade_members_config *config, unsigned choice, const char *const *names)
{
    static const enum lade_value_kind kinds[] = {LADE_VALUE_RAW, LADE_VALUE_IMAGE, LADE_VALUE_NPY, LADE_VALUE_INTEGER,
                                                 LADE_VALUE_JSON};
    static const enum lade_dtype dtypes[] = {LADE_U8, LADE_U8, LADE_U8, LADE_I64, LADE_F64};

    *config =
        (struct lade_members_config){.size = {.pixels_max = 1 << 14}, .unchecked = choice & 1, .unpacked = 1 << 16};
    if (choice & 2)
        config->size.height = config->size.width = 3;
    for (unsigned f = 0; f < 3 && choice & 4; f++) {
        const unsigned kind = (choice >> (3 + f)) % 5;
        struct lade_value_field *field = &config->field[config->fields++];
        field->field.name = names[f];
        field->typed = choice & 8;
        field->kind = field->typed ? kinds[kind] : LADE_VALUE_RAW;
        field->field.dtype = field->typed ? dtypes[kind] : LADE_U8;
        if (field->typed && kind == 0) {
            field->field.dtype = choice & 16 ? LADE_F32 : LADE_I64;
            field->shaped = true;
            field->field.ragged_max = choice & 32 ? UINT64_MAX : 0;
            field->field.dims = choice >> 6 & 1;
            field->field.dim[0] = 2;
        }
    }
    if (choice & 128)
        config->label = names[1];
}

#endif

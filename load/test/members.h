/* SPDX-License-Identifier: MIT */
/* Writes TFRecord and tar byte by byte, and reads sources with several fields. */
#ifndef LADE_LOAD_TEST_MEMBERS_H
#define LADE_LOAD_TEST_MEMBERS_H

#include <lade/source.h>

#include "checksum.h"
#include "files.h"

/* Bytes that grow. */
struct blob {
    uint8_t data[1 << 16];
    size_t size;
};

static inline void add(struct blob *b, const void *bytes, size_t size)
{
    cr_assert_leq(b->size + size, sizeof b->data);
    memcpy(b->data + b->size, bytes, size);
    b->size += size;
}

static inline void add_number(struct blob *b, uint64_t number, int size)
{
    uint8_t bytes[8];

    lade_write_number(bytes, number, size);
    add(b, bytes, (size_t)size);
}

static inline void add_varint(struct blob *b, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        add_number(b, (number & 127) | 128, 1);
    add_number(b, number, 1);
}

/* Field number and bytes, as Protocol Buffers have them. */
static inline void add_part(struct blob *b, unsigned field, const struct blob *part)
{
    add_varint(b, field << 3 | 2);
    add_varint(b, part->size);
    add(b, part->data, part->size);
}

static inline uint32_t masked(const void *bytes, size_t size)
{
    const uint32_t crc = lade_crc32c(0, bytes, size);

    return (crc >> 15 | crc << 17) + UINT32_C(0xa282ead8);
}

static inline void add_record(struct blob *b, const struct blob *record)
{
    const size_t at = b->size;

    add_number(b, record->size, 8);
    add_number(b, masked(b->data + at, 8), 4);
    add(b, record->data, record->size);
    add_number(b, masked(record->data, record->size), 4);
}

/* A feature of an Example: kind 1 bytes, 2 floats, 3 integers; list is the message of the list. */
static inline void add_feature(struct blob *features, const char *name, unsigned kind, const struct blob *list)
{
    static struct blob text, feature, entry;

    text.size = feature.size = entry.size = 0;
    add(&text, name, strlen(name));
    add_part(&feature, kind, list);
    add_part(&entry, 1, &text);
    add_part(&entry, 2, &feature);
    add_part(features, 1, &entry);
}

static inline void add_bytes(struct blob *features, const char *name, const void *bytes, size_t size)
{
    static struct blob list, value;

    list.size = value.size = 0;
    add(&value, bytes, size);
    add_part(&list, 1, &value);
    add_feature(features, name, 1, &list);
}

static inline void add_floats(struct blob *features, const char *name, const float *floats, size_t count, bool packed)
{
    static struct blob list, value;

    list.size = value.size = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &floats[i], sizeof bits);
        if (!packed)
            add_varint(&list, 1 << 3 | 5);
        add_number(packed ? &value : &list, bits, 4);
    }
    if (packed)
        add_part(&list, 1, &value);
    add_feature(features, name, 2, &list);
}

static inline void add_integers(struct blob *features, const char *name, const int64_t *integers, size_t count,
                                bool packed)
{
    static struct blob list, value;

    list.size = value.size = 0;
    for (size_t i = 0; i < count; i++) {
        if (!packed)
            add_varint(&list, 1 << 3);
        add_varint(packed ? &value : &list, (uint64_t)integers[i]);
    }
    if (packed)
        add_part(&list, 1, &value);
    add_feature(features, name, 3, &list);
}

/* The features as a record; empties them. */
static inline void add_example(struct blob *file, struct blob *features)
{
    static struct blob example;

    example.size = 0;
    add_part(&example, 1, features);
    add_record(file, &example);
    features->size = 0;
}

/* A member of tar, of any type; magic is "ustar\0" "00" or GNU's. */
static inline void add_header(struct blob *b, const char *name, char type, size_t size, const char *prefix)
{
    uint8_t header[512] = {0};
    unsigned sum = 0;

    for (unsigned i = 0; i < 100 && name[i] != 0; i++)
        header[i] = (uint8_t)name[i];
    snprintf((char *)header + 124, 12, "%011llo", (unsigned long long)size & 077777777777);
    memset(header + 148, ' ', 8);
    header[156] = (uint8_t)type;
    memcpy(header + 257, "ustar\0", 8);
    header[263] = header[264] = '0';
    memcpy(header + 345, prefix, strlen(prefix));
    for (size_t i = 0; i < sizeof header; i++)
        sum += header[i];
    snprintf((char *)header + 148, 8, "%06o", sum);
    add(b, header, sizeof header);
}

static inline void add_member(struct blob *b, const char *name, char type, const void *bytes, size_t size)
{
    static const uint8_t zeros[512];

    add_header(b, name, type, size, "");
    add(b, bytes, size);
    add(b, zeros, (512 - size % 512) % 512);
}

static inline void add_file(struct blob *b, const char *name, const char *text)
{
    add_member(b, name, '0', text, strlen(text));
}

static inline void add_end(struct blob *b)
{
    static const uint8_t zeros[1024];

    add(b, zeros, sizeof zeros);
}

static inline struct lade_source *open_file(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

/* Opening fails with this status, this offset and a text that has these words. */
static inline void refuses(const char *text, int status, uint64_t offset, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), status, "%s: %s", text, error.text);
    cr_assert_null(source);
    cr_assert_eq(error.offset, offset, "%s", error.text);
    cr_assert_not_null(strstr(error.text, words), "'%s', not '%s'", error.text, words);
}

static inline void check_field(struct lade_source *source, unsigned f, const char *name, enum lade_dtype dtype,
                               unsigned dims, uint64_t first, uint64_t ragged_max)
{
    const struct lade_field *field = &lade_source_schema(source)->field[f];

    cr_assert_str_eq(field->name, name);
    cr_assert_eq(field->dtype, dtype, "%s", name);
    cr_assert_eq(field->dims, dims, "%s", name);
    cr_assert(dims == 0 || field->dim[0] == first, "%s", name);
    cr_assert_eq(field->ragged_max, ragged_max, "%s", name);
}

static inline uint64_t steps_of(struct lade_source *source, uint64_t i, unsigned field)
{
    uint64_t steps = 99;

    cr_assert_eq(lade_source_length(source, i, field, &steps, NULL), LADE_OK);
    return steps;
}

/* Reads steps from, ... of one field. */
static inline int read_part(struct lade_source *source, uint64_t i, unsigned f, uint64_t from, uint64_t length,
                            void *to, struct lade_error *error)
{
    struct lade_view views[LADE_FIELDS_MAX] = {{NULL, 0, 0}};

    views[f] = (struct lade_view){to, from, length};
    return lade_source_read_fields(source, i, views, error);
}

/* Reads all of each sample into blocks of exactly its size; the number of samples that can be read. */
static inline unsigned read_all(struct lade_source *source)
{
    const struct lade_schema *schema = lade_source_schema(source);
    unsigned good = 0;

    for (uint64_t i = 0; i < lade_source_info(source)->count; i++) {
        struct lade_view views[LADE_FIELDS_MAX] = {{NULL, 0, 0}};
        for (unsigned f = 0; f < schema->fields; f++) {
            views[f].length = steps_of(source, i, f);
            views[f].data = malloc((size_t)views[f].length * lade_field_bytes(&schema->field[f]) + 1);
            cr_assert_not_null(views[f].data);
        }
        int status = lade_source_read_fields(source, i, views, NULL);
        cr_assert(status == LADE_OK || status == LADE_DAMAGED);
        good += status == LADE_OK;
        for (unsigned f = 0; f < schema->fields; f++)
            free(views[f].data);
    }
    return good;
}

/* All of one field equals these bytes. */
static inline void has(struct lade_source *source, uint64_t i, unsigned f, const void *bytes, size_t size)
{
    static uint8_t to[4096];
    struct lade_error error = {.text = "no text"};

    memset(to, 0x5a, sizeof to);
    cr_assert_eq(read_part(source, i, f, 0, steps_of(source, i, f), to, &error), LADE_OK, "%s", error.text);
    cr_assert_arr_eq(to, bytes, size, "sample %d, field %u", (int)i, f);
    cr_assert_eq(to[size], 0x5a, "more than the field was written");
}

#endif

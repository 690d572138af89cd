/* SPDX-License-Identifier: MIT */
/* lade convert: a sample as members of tar (ustar, as WebDataset reads it), or as a record with a tf.train.Example. */
#include "convert.h"

#include "checksum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

static bool machine_is_big(void)
{
    const uint16_t one = 1;

    return *(const uint8_t *)&one == 0;
}

static const char *npy_type(enum lade_dtype dtype)
{
    static const char *const types[] = {
        [LADE_BOOL] = "b1", [LADE_U8] = "u1",  [LADE_I8] = "i1",  [LADE_U16] = "u2",  [LADE_I16] = "i2",
        [LADE_U32] = "u4",  [LADE_I32] = "i4", [LADE_U64] = "u8", [LADE_I64] = "i8",  [LADE_F16] = "f2",
        [LADE_F32] = "f4",  [LADE_F64] = "f8", [LADE_C64] = "c8", [LADE_C128] = "c16"};

    return types[dtype];
}

/* lead is the first dimension of the array, in front of those of the field. Version 1.0 holds 8 dimensions easily. */
size_t convert_npy_header(uint8_t *to, const struct lade_field *field, uint64_t lead)
{
    char text[NPY_HEADER];
    const char order = lade_dtype_size(field->dtype) == 1 ? '|' : machine_is_big() ? '>' : '<';
    int size = snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%" PRIu64 ",", order,
                        npy_type(field->dtype), lead);

    for (unsigned d = 0; d < field->dims; d++)
        size += snprintf(text + size, sizeof text - (size_t)size, "%s%" PRIu64, d ? ", " : " ", field->dim[d]);
    size += snprintf(text + size, sizeof text - (size_t)size, "), }");
    const size_t whole = (10 + (size_t)size + 1 + 63) / 64 * 64; /* the data begins at a multiple of 64 */
    memcpy(to, "\x93NUMPY\x01\x00", 8);
    lade_write_number(to + 8, whole - 10, 2);
    memset(to + 10, ' ', whole - 10);
    memcpy(to + 10, text, (size_t)size);
    to[whole - 1] = '\n';
    return whole;
}

/* Octal digits where they fit, else big-endian bytes after 0x80. */
static void put_size(uint8_t *to, uint64_t size)
{
    if (size < UINT64_C(1) << 33) {
        (void)snprintf((char *)to, 12, "%011" PRIo64, size);
        return;
    }
    to[0] = 0x80;
    for (int i = 11; i > 0; i--) {
        to[i] = (uint8_t)size;
        size >>= 8;
    }
}

/* Time, user and group are zero, so that the same samples are the same bytes. */
static void put_header(struct output *o, uint64_t position, const char *name, uint64_t size)
{
    uint8_t header[BLOCK] = {0};
    unsigned sum = 0;

    (void)snprintf((char *)header, 100, "%09" PRIu64 ".%s", position, name);
    memcpy(header + 100,
           "0000644\0"
           "0000000\0"
           "0000000\0",
           24);
    put_size(header + 124, size);
    memcpy(header + 136,
           "00000000000\0"
           "        "
           "0",
           21);
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < sizeof header; i++)
        sum += header[i];
    (void)snprintf((char *)header + 148, 8, "%06o", sum);
    header[155] = ' ';
    fwrite(header, 1, sizeof header, o->to);
}

static void put_member(struct output *o, uint64_t position, const char *name, const void *front, size_t before,
                       const struct value *v)
{
    static const uint8_t zeros[BLOCK];
    const uint64_t size = before + v->size;

    put_header(o, position, name, size);
    fwrite(front, 1, before, o->to);
    fwrite(v->data, 1, v->size, o->to);
    fwrite(zeros, 1, (size_t)((BLOCK - size % BLOCK) % BLOCK), o->to);
}

/* An array, or nothing if it is empty: a ragged value that is missing has length 0. */
static bool put_array(struct output *o, uint64_t position, const struct column *column, const struct value *v)
{
    uint8_t header[NPY_HEADER];
    struct lade_field field = column->field;
    uint64_t lead = v->steps;

    if (v->steps == 0)
        return false;
    if (field.ragged_max == 0 && field.dims > 0) {
        lead = field.dim[0];
        field.dims--;
        memmove(field.dim, field.dim + 1, field.dims * sizeof *field.dim);
    }
    put_member(o, position, column->name, header, convert_npy_header(header, &field, lead), v);
    return true;
}

int convert_put_members(struct convert *c, struct output *o, uint64_t position)
{
    bool some = false;

    for (unsigned f = 0; f < c->columns; f++) {
        const struct column *column = &c->column[f];
        struct value v;
        const int code = convert_value(c, f, position, &v);
        if (code != EXIT_DONE)
            return code;
        if (column->encoding == AS_ARRAY) {
            some = put_array(o, position, column, &v) || some;
            continue;
        }
        some = true;
        char digits[32];
        int64_t number = 0;
        struct value shown_value = v;
        if (column->encoding == AS_DIGITS) {
            memcpy(&number, v.data, sizeof number);
            shown_value = (struct value){(const uint8_t *)digits, 0, 1};
            shown_value.size = (size_t)snprintf(digits, sizeof digits, "%" PRId64, number);
        }
        put_member(o, position, column->name, "", 0, &shown_value);
    }
    if (some)
        return EXIT_DONE;
    print_error("convert: sample %" PRIu64 " is empty in all fields, and tar then has no members of it; add a field "
                "that is not, or write tfrecord",
                convert_sample(c, position));
    return EXIT_WRONG;
}

/* Bytes that grow. */
struct bytes {
    uint8_t *data;
    size_t size, room;
    bool full; /* out of memory */
};

static uint8_t *append(struct bytes *b, size_t size)
{
    if (b->full || size > SIZE_MAX / 4 - b->size)
        return NULL;
    if (b->size + size > b->room) {
        const size_t room = 2 * (b->size + size);
        uint8_t *more = realloc(b->data, room);
        b->full = !more;
        if (!more)
            return NULL;
        b->data = more;
        b->room = room;
    }
    b->size += size;
    return b->data + b->size - size;
}

static void put_bytes(struct bytes *b, const void *bytes, size_t size)
{
    uint8_t *to = append(b, size);

    if (to && size > 0)
        memcpy(to, bytes, size);
}

static unsigned varint_size(uint64_t number)
{
    unsigned size = 1;

    for (; number >= 0x80; number >>= 7)
        size++;
    return size;
}

static void put_varint(struct bytes *b, uint64_t number)
{
    uint8_t text[10];
    unsigned size = 0;

    for (; number >= 0x80; number >>= 7)
        text[size++] = (uint8_t)(number | 0x80);
    text[size++] = (uint8_t)number;
    put_bytes(b, text, size);
}

/* The tag and length of an entry with bytes. */
static void put_tag(struct bytes *b, uint8_t field, uint64_t size)
{
    put_varint(b, (uint64_t)field << 3 | 2);
    put_varint(b, size);
}

static uint64_t tagged(uint64_t size)
{
    return 1 + varint_size(size) + size;
}

/* The elements of a list in its wire format: packed integers and floats, or the bytes themselves. */
static void put_list(struct bytes *list, const struct column *column, const struct value *v)
{
    const size_t width = lade_dtype_size(column->field.dtype),
                 part = column->field.dtype >= LADE_C64 ? width / 2 : width;
    uint64_t number;

    if (column->encoding == AS_INTEGERS) {
        for (size_t at = 0; at < v->size; at += sizeof number) {
            memcpy(&number, v->data + at, sizeof number);
            put_varint(list, number);
        }
        return;
    }
    const size_t begin = list->size;
    put_bytes(list, v->data, v->size);
    for (size_t at = begin; machine_is_big() && at + part <= list->size; at += part)
        for (size_t b = 0; b < part / 2; b++) {
            const uint8_t low = list->data[at + b];
            list->data[at + b] = list->data[at + part - 1 - b];
            list->data[at + part - 1 - b] = low;
        }
}

/* An entry of the map of features: the name, and a feature with one list. */
static void put_feature(struct bytes *to, const struct column *column, const struct bytes *list)
{
    const uint8_t kind = column->encoding == AS_INTEGERS ? 3 : column->encoding == AS_FLOATS ? 2 : 1;
    const size_t name = strlen(column->name);
    const uint64_t elements = tagged(list->size), feature = tagged(elements), entry = tagged(name) + tagged(feature);

    put_tag(to, 1, entry);
    put_tag(to, 1, name);
    put_bytes(to, column->name, name);
    put_tag(to, 2, feature);
    put_tag(to, kind, elements);
    put_tag(to, 1, list->size);
    put_bytes(to, list->data, list->size);
}

static void put_masked(FILE *to, const void *bytes, size_t size)
{
    const uint32_t crc = lade_crc32c(0, bytes, size);
    uint8_t text[4];

    lade_write_number(text, (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8)), sizeof text);
    fwrite(text, 1, sizeof text, to);
}

static void put_frame(FILE *to, const struct bytes *record)
{
    uint8_t length[8];

    lade_write_number(length, record->size, sizeof length);
    fwrite(length, 1, sizeof length, to);
    put_masked(to, length, sizeof length);
    fwrite(record->data, 1, record->size, to);
    put_masked(to, record->data, record->size);
}

int convert_put_record(struct convert *c, struct output *o, uint64_t position)
{
    struct bytes features = {.size = 0}, list = {.size = 0}, record = {.size = 0};
    int code = EXIT_DONE;

    for (unsigned f = 0; f < c->columns && code == EXIT_DONE; f++) {
        struct value v;
        code = convert_value(c, f, position, &v);
        list.size = 0;
        if (code == EXIT_DONE) {
            put_list(&list, &c->column[f], &v);
            put_feature(&features, &c->column[f], &list);
        }
    }
    put_tag(&record, 1, features.size);
    put_bytes(&record, features.data, features.size);
    if (code == EXIT_DONE && (features.full || list.full || record.full))
        code = convert_no_memory();
    if (code == EXIT_DONE)
        put_frame(o->to, &record);
    free(features.data);
    free(list.data);
    free(record.data);
    return code;
}

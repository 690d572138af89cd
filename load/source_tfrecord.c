/* SPDX-License-Identifier: MIT */
/*
 * TFRecord: records of a length, its checksum, bytes and their checksum (CRC-32C, masked); each record is a message
 * tf.train.Example in the wire format of Protocol Buffers: a map from names to lists of bytes, floats or integers.
 */
#include "source_members.h"

#include "checksum.h"

#include <string.h>

enum { HEADER = 12, FOOTER = 4 };

/* A message, or a part of one. */
struct wire {
    const uint8_t *file, *at, *end;
    const char *name;
    struct lade_error *error;
};

/* One entry of a message: field number and type, and its number or bytes. */
struct entry {
    uint64_t field;
    unsigned type;
    uint64_t number;
    struct wire bytes;
};
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

static int wrong(const struct wire *w, const char *what)
{
    return lade_fail(w->error, LADE_DAMAGED, w->name, (uint64_t)(w->at - w->file), "%s", what);
}

static int take_varint(struct wire *w, uint64_t *to)
{
    *to = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (w->at == w->end)
            return wrong(w, "a message ends inside a number");
        const uint8_t byte = *w->at++;
        if (shift == 63 && byte > 1)
            break;
        *to |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return LADE_OK;
    }
    return wrong(w, "a number of a message has more than 64 bits");
}

static int take_fixed(struct wire *w, int size, uint64_t *to)
{
    if (w->end - w->at < size)
        return wrong(w, "a message ends inside a number");
    *to = lade_read_number(w->at, size);
    w->at += size;
    return LADE_OK;
}

static int take_entry(struct wire *w, struct entry *e)
{
    int status = take_varint(w, &e->number);

    if (status != LADE_OK)
        return status;
    e->field = e->number >> 3;
    e->type = (unsigned)(e->number & 7);
    e->bytes = *w;
    switch (e->type) {
    case VARINT:
        return take_varint(w, &e->number);
    case FIXED64:
        return take_fixed(w, 8, &e->number);
    case FIXED32:
        return take_fixed(w, 4, &e->number);
    case BYTES:
        status = take_varint(w, &e->number);
        if (status == LADE_OK && e->number > (uint64_t)(w->end - w->at))
            status = wrong(w, "a part of a message is longer than the message");
        if (status == LADE_OK) {
            e->bytes.at = w->at;
            w->at += e->number;
            e->bytes.end = w->at;
        }
        return status;
    default:
        return wrong(w, "a message has an entry of unknown type");
    }
}

/* Elements of a list that are stored, out of those from, ... */
struct range {
    uint8_t *to;
    uint64_t from, length, count;
};

static void keep(struct range *r, const void *element, size_t width)
{
    if (r->to && r->count >= r->from && r->count - r->from < r->length)
        memcpy(r->to + (r->count - r->from) * width, element, width);
    r->count++;
}

static void keep_float(struct range *r, uint64_t bits)
{
    const uint32_t word = (uint32_t)bits;

    keep(r, &word, sizeof word);
}

static int read_floats(struct wire *w, struct range *r)
{
    if ((w->end - w->at) % 4 != 0)
        return wrong(w, "packed floats end inside a number");
    if (!r->to) {
        r->count += (uint64_t)(w->end - w->at) / 4;
        return LADE_OK;
    }
    for (; w->at < w->end; w->at += 4)
        keep_float(r, lade_read_number(w->at, 4));
    return LADE_OK;
}

static int read_integers(struct wire *w, struct range *r)
{
    while (w->at < w->end) {
        uint64_t number;
        int status = take_varint(w, &number);
        if (status != LADE_OK)
            return status;
        keep(r, &number, sizeof number);
    }
    return LADE_OK;
}

static int read_list_entry(struct entry *e, bool floats, struct range *r)
{
    if (e->field != 1)
        return LADE_OK;
    if (e->type == BYTES)
        return floats ? read_floats(&e->bytes, r) : read_integers(&e->bytes, r);
    if (e->type != (floats ? FIXED32 : VARINT))
        return wrong(&e->bytes, "an element of a list has another type than the list");
    if (floats)
        keep_float(r, e->number);
    else
        keep(r, &e->number, sizeof e->number);
    return LADE_OK;
}

int lade_list_read(const struct lade_value *value, uint64_t *count, void *to, uint64_t from, uint64_t length,
                   struct lade_error *error)
{
    struct wire w = {value->data - value->offset, value->data, value->data + value->size, value->file, error};
    struct range r = {to, from, length, 0};

    while (w.at < w.end) {
        struct entry e;
        int status = take_entry(&w, &e);
        if (status == LADE_OK)
            status = read_list_entry(&e, value->kind == LADE_VALUE_FLOATS, &r);
        if (status != LADE_OK)
            return status;
    }
    *count = r.count;
    return LADE_OK;
}

/* The value is there, but cannot be read: that matters only where it is wanted. */
static void unreadable(const struct wire *w, struct lade_value *value, const char *why)
{
    value->data = w->at;
    value->offset = (uint64_t)(w->at - w->file);
    value->fault = why;
}

/* A list of byte strings with one element: that is the value. */
static int only_bytes(struct wire list, struct lade_value *value)
{
    uint64_t count = 0;

    value->size = 0;
    while (list.at < list.end) {
        struct entry e;
        int status = take_entry(&list, &e);
        if (status != LADE_OK)
            return status;
        if (e.field != 1)
            continue;
        if (e.type != BYTES)
            return wrong(&list, "an element of a list has another type than the list");
        if (count++ > 0) {
            unreadable(&e.bytes, value, "a list of several byte strings is not read");
            continue;
        }
        value->data = e.bytes.at;
        value->size = (size_t)e.number;
        value->offset = (uint64_t)(e.bytes.at - list.file);
    }
    return LADE_OK;
}

/* A message Feature: one of three lists. An empty one has no value. */
static int read_feature(struct wire feature, struct lade_value *value)
{
    bool found = false;

    while (feature.at < feature.end) {
        struct entry e;
        int status = take_entry(&feature, &e);
        if (status != LADE_OK)
            return status;
        if (e.field < 1 || e.field > 3)
            continue;
        if (e.type != BYTES || found) {
            unreadable(&e.bytes, value, found ? "a feature has two lists" : "a feature is no list");
            continue;
        }
        found = true;
        value->kind = e.field == 1 ? LADE_VALUE_RAW : e.field == 2 ? LADE_VALUE_FLOATS : LADE_VALUE_INT64S;
        value->data = e.bytes.at;
        value->size = (size_t)e.number;
        value->offset = (uint64_t)(e.bytes.at - feature.file);
        if (e.field == 1)
            status = only_bytes(e.bytes, value);
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

struct visit {
    lade_visitor *visitor;
    void *context;
};

/* An entry of the map: a name and a feature. */
static int visit_feature(struct wire w, const struct visit *v)
{
    struct lade_value value = {.file = w.name};
    const uint8_t *name = w.at;
    size_t length = 0;

    while (w.at < w.end) {
        struct entry e;
        int status = take_entry(&w, &e);
        if (status == LADE_OK && (e.field == 1 || e.field == 2) && e.type != BYTES)
            status = wrong(&e.bytes, "the name or value of a feature has a wrong type");
        if (status == LADE_OK && e.field == 1) {
            name = e.bytes.at;
            length = (size_t)e.number;
        } else if (status == LADE_OK && e.field == 2) {
            if (value.data)
                unreadable(&e.bytes, &value, "a feature has two values");
            else
                status = read_feature(e.bytes, &value);
        }
        if (status != LADE_OK)
            return status;
    }
    return value.data ? v->visitor(v->context, (const char *)name, length, &value, w.error) : LADE_OK;
}

static int visit_features(struct wire features, const struct visit *v)
{
    while (features.at < features.end) {
        struct entry e;
        int status = take_entry(&features, &e);
        if (status == LADE_OK && e.field == 1)
            status = e.type == BYTES ? visit_feature(e.bytes, v) : wrong(&e.bytes, "a feature is not a message");
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

static int visit_example(struct wire example, const struct visit *v)
{
    while (example.at < example.end) {
        struct entry e;
        int status = take_entry(&example, &e);
        if (status == LADE_OK && e.field == 2)
            status = wrong(&e.bytes, "the record is not an Example; a SequenceExample cannot be read");
        if (status == LADE_OK && e.field == 1)
            status = e.type == BYTES ? visit_features(e.bytes, v) : wrong(&e.bytes, "the features are not a message");
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

static bool checks(const uint8_t *bytes, size_t size)
{
    const uint32_t crc = lade_crc32c(0, bytes, size);

    return (uint32_t)((crc >> 15 | crc << 17) + UINT32_C(0xa282ead8)) == (uint32_t)lade_read_number(bytes + size, 4);
}

static int next_record(struct lade_bytes file, uint64_t *at, uint64_t *begin, struct lade_error *error)
{
    const uint64_t left = file.size - *at;

    if (left == 0)
        return LADE_EMPTY;
    if (left < HEADER + FOOTER)
        return lade_fail(error, LADE_DAMAGED, file.name, *at, "ends inside a record");
    if (!checks(file.data + *at, 8))
        return lade_fail(error, LADE_DAMAGED, file.name, *at + 8,
                         *at ? "the checksum of a record's length is wrong"
                             : "is not TFRecord, or damaged: the checksum of the first record's length is wrong");
    const uint64_t length = lade_read_number(file.data + *at, 8);
    if (length > left - HEADER - FOOTER)
        return lade_fail(error, LADE_DAMAGED, file.name, *at, "ends inside a record of %llu bytes",
                         (unsigned long long)length);
    *begin = *at;
    *at += HEADER + length + FOOTER;
    return LADE_OK;
}

static int visit_record(struct lade_bytes file, uint64_t begin, bool check, lade_visitor *visitor, void *context,
                        struct lade_error *error)
{
    const uint64_t left = file.size - begin, length = left < 8 ? left : lade_read_number(file.data + begin, 8);
    const uint8_t *data = file.data + begin + HEADER;

    if (left < HEADER + FOOTER || length > left - HEADER - FOOTER) /* next_record() has checked it */
        return lade_fail(error, LADE_DAMAGED, file.name, begin, "has changed");
    const struct wire example = {file.data, data, data + length, file.name, error};
    if (check && !checks(file.data + begin, 8))
        return lade_fail(error, LADE_DAMAGED, file.name, begin + 8, "the checksum of a record's length is wrong");
    if (check && !checks(data, (size_t)length))
        return lade_fail(error, LADE_DAMAGED, file.name, begin + HEADER + length,
                         "the checksum of a record's bytes is wrong");
    return visit_example(example, &(struct visit){visitor, context});
}

static enum lade_value_kind kind_of(const char *name, const struct lade_value *value)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, jpeg[3] = {0xff, 0xd8, 0xff};

    (void)name;
    if (value->kind == LADE_VALUE_RAW && ((value->size > 8 && !memcmp(value->data, png, sizeof png)) ||
                                          (value->size > 3 && !memcmp(value->data, jpeg, sizeof jpeg))))
        return LADE_VALUE_IMAGE;
    return value->kind;
}

const struct lade_members_format lade_tfrecord = {
    .kind = "tfrecord", .label = "label", .next = next_record, .visit = visit_record, .kind_of = kind_of};

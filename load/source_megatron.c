/* SPDX-License-Identifier: MIT */
/*
 * Megatron's token files: PREFIX.bin holds the token ids of all sequences, PREFIX.idx their type, lengths, positions,
 * and which sequences form a document. A sample is a document, or a sequence: a ragged field "tokens". The index is
 * read where it is mapped, so that it takes no memory for a sample.
 */
#include "source_members.h"

#include "heap.h"
#include "checksum.h"

#include <string.h>

enum { HEADER = 34 }; /* magic 9, version 8, type 1, sequences 8, documents 8 */

static uint64_t length_at(const struct lade_megatron *m, uint64_t s)
{
    return lade_read_number(m->index.data + m->lengths_at + 4 * s, 4);
}

static uint64_t pointer_at(const struct lade_megatron *m, uint64_t s)
{
    return lade_read_number(m->index.data + m->pointers_at + 8 * s, 8);
}

static uint64_t document_at(const struct lade_megatron *m, uint64_t d)
{
    return lade_read_number(m->index.data + m->documents_at + 8 * d, 8);
}

static int wrong(const struct lade_megatron *m, uint64_t offset, const char *what, struct lade_error *error)
{
    return lade_fail(error, LADE_DAMAGED, m->index.name, offset, "%s", what);
}

static int read_header(struct lade_megatron *m, uint64_t *documents, struct lade_error *error)
{
    static const enum lade_dtype types[] = {LADE_U8,  LADE_U8,  LADE_I8,  LADE_I16, LADE_I32,
                                            LADE_I64, LADE_F64, LADE_F32, LADE_U16};
    const struct lade_bytes b = m->index;

    if (b.size < 9 || memcmp(b.data, "MMIDIDX\0\0", 9) != 0)
        return wrong(m, 0, "is not an index of Megatron: it begins with other bytes", error);
    if (b.size < HEADER)
        return wrong(m, b.size, "ends inside the header", error);
    if (lade_read_number(b.data + 9, 8) != 1)
        return wrong(m, 9, "the version of the index is not 1", error);
    if (b.data[17] < 1 || b.data[17] >= sizeof types / sizeof *types)
        return lade_fail(error, LADE_DAMAGED, b.name, 17, "there is no element type %u", b.data[17]);
    m->dtype = types[b.data[17]];
    m->sequences = lade_read_number(b.data + 18, 8);
    *documents = lade_read_number(b.data + 26, 8);
    const uint64_t left = b.size - HEADER;
    if (m->sequences > left / 12 || *documents > (left - 12 * m->sequences) / 8)
        return wrong(m, b.size, "ends inside its tables", error);
    const uint64_t used = 12 * m->sequences + 8 * *documents;
    if (left != used && left != used + m->sequences) /* one byte for each sequence: its mode, which is not read */
        return wrong(m, HEADER + used, "continues after its tables", error);
    m->lengths_at = HEADER;
    m->pointers_at = HEADER + 4 * m->sequences;
    m->documents_at = m->pointers_at + 8 * m->sequences;
    return LADE_OK;
}

static int check_sequences(struct lade_megatron *m, struct lade_error *error)
{
    const size_t width = lade_dtype_size(m->dtype);

    for (uint64_t s = 0; s < m->sequences; s++) {
        const uint64_t length = length_at(m, s), at = pointer_at(m, s);
        if (length > INT32_MAX)
            return wrong(m, m->lengths_at + 4 * s, "the length of a sequence is negative", error);
        if (at > m->data.size || (m->data.size - at) / width < length)
            return wrong(m, m->pointers_at + 8 * s, "a sequence lies outside the file of tokens", error);
        if (!m->whole && length > m->longest)
            m->longest = length;
    }
    return LADE_OK;
}

/* A document is read as one piece, so its sequences must be adjacent, as Megatron writes them. */
static int check_documents(struct lade_megatron *m, uint64_t documents, struct lade_error *error)
{
    const size_t width = lade_dtype_size(m->dtype);

    if (documents == 0 || document_at(m, 0) != 0 || document_at(m, documents - 1) != m->sequences)
        return wrong(m, m->documents_at, "the documents do not cover all sequences", error);
    for (uint64_t d = 0; d + 1 < documents; d++) {
        const uint64_t from = document_at(m, d), to = document_at(m, d + 1);
        uint64_t length = 0;
        if (from > to || to > m->sequences)
            return wrong(m, m->documents_at + 8 * (d + 1), "the documents are not in order", error);
        for (uint64_t s = from; s < to; s++) {
            if (pointer_at(m, s) != pointer_at(m, from) + length * width)
                return wrong(m, m->pointers_at + 8 * s, "the sequences of a document are not adjacent", error);
            length += length_at(m, s);
        }
        if (length > m->longest)
            m->longest = length;
    }
    return LADE_OK;
}

int lade_megatron_parse(struct lade_megatron *m, struct lade_bytes index, struct lade_bytes data, bool whole,
                        struct lade_error *error)
{
    uint64_t documents = 0;

    *m = (struct lade_megatron){.index = index, .data = data, .whole = whole};
    int status = read_header(m, &documents, error);
    if (status == LADE_OK)
        status = check_sequences(m, error);
    if (status == LADE_OK && whole)
        status = check_documents(m, documents, error);
    m->count = whole ? documents - 1 : m->sequences;
    if (status == LADE_OK && m->count == 0)
        status = wrong(m, 18, "there are no samples", error);
    if (status == LADE_OK && m->longest == 0)
        status = wrong(m, 18, "all samples are empty", error);
    return status;
}

/* Where sample i is. The index is checked again: it is mapped, so another process can have changed it. */
static int find_sample(const struct lade_megatron *m, uint64_t i, uint64_t *at, uint64_t *length,
                       struct lade_error *error)
{
    const size_t width = lade_dtype_size(m->dtype);
    const uint64_t first = m->whole ? document_at(m, i) : i, end = m->whole ? document_at(m, i + 1) : i + 1;

    *at = *length = 0;
    if (first == end)
        return LADE_OK;
    if (first > end || end > m->sequences)
        return wrong(m, m->documents_at + 8 * i, "has changed: the documents are not in order", error);
    const uint64_t begin = pointer_at(m, first), last = pointer_at(m, end - 1), steps = length_at(m, end - 1);
    if (begin > last || last > m->data.size || (m->data.size - last) / width < steps)
        return wrong(m, m->pointers_at + 8 * (end - 1), "has changed: a sequence lies outside the file of tokens",
                     error);
    if ((last - begin) / width + steps > m->longest)
        return wrong(m, m->lengths_at + 4 * (end - 1), "has changed: a sample is longer than the longest was", error);
    *at = begin;
    *length = (last - begin) / width + steps;
    return LADE_OK;
}

int lade_megatron_length(const struct lade_megatron *m, uint64_t i, uint64_t *length, struct lade_error *error)
{
    uint64_t at;

    return find_sample(m, i, &at, length, error);
}

int lade_megatron_read(const struct lade_megatron *m, uint64_t i, const struct lade_view *view,
                       struct lade_error *error)
{
    const size_t width = lade_dtype_size(m->dtype);
    uint64_t at, length;

    if (!view->data)
        return LADE_OK;
    int status = find_sample(m, i, &at, &length, error);
    if (status != LADE_OK)
        return status;
    if (view->from > length || view->length > length - view->from)
        return lade_fail(error, LADE_INVALID, m->data.name, LADE_NO_OFFSET,
                         "sample %llu has %llu tokens, fewer than the view asks for", (unsigned long long)i,
                         (unsigned long long)length);
    if (view->length == 0)
        return LADE_OK;
    memcpy(view->data, m->data.data + at + view->from * width, (size_t)view->length * width);
    if (lade_machine_is_big())
        lade_swap_elements(view->data, (size_t)view->length * width, (unsigned)width);
    return LADE_OK;
}

struct megatron_source {
    struct lade_megatron m;
    const struct lade_alloc *alloc;
    struct lade_field field;
    struct lade_schema schema;
};

static int length_megatron(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct megatron_source *s = self;

    (void)field;
    return lade_megatron_length(&s->m, i, length, error);
}

static int read_megatron(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct megatron_source *s = self;

    return lade_megatron_read(&s->m, i, views, error);
}

static void close_megatron(void *self)
{
    struct megatron_source *s = self;

    lade_unmap(&s->m.index, s->alloc);
    lade_unmap(&s->m.data, s->alloc);
    lade_heap_put(s->alloc, s);
}

/* Takes ownership of the two maps, also on failure. */
static int open_maps(struct lade_source **source, struct lade_bytes index, struct lade_bytes data, bool whole,
                     const struct lade_alloc *alloc, struct lade_error *error)
{
    static const struct lade_source_ops ops = {
        .length = length_megatron, .read_fields = read_megatron, .close = close_megatron};
    struct megatron_source *s = lade_heap_raw(alloc, 1, sizeof *s);

    if (!s) {
        lade_unmap(&index, alloc);
        lade_unmap(&data, alloc);
        return lade_fail(error, LADE_NO_MEMORY, "megatron", LADE_NO_OFFSET, "out of memory");
    }
    s->alloc = alloc;
    int status = lade_megatron_parse(&s->m, index, data, whole, error);
    s->field = (struct lade_field){.name = "tokens", .dtype = s->m.dtype, .ragged_max = s->m.longest};
    s->schema = (struct lade_schema){1, &s->field, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};
    const struct lade_source_info info = {.kind = "megatron", .count = s->m.count, .schema = &s->schema};
    if (status == LADE_OK)
        status = lade_source_open_custom(source, &ops, s, &info, alloc, error);
    if (status != LADE_OK)
        close_megatron(s);
    return status;
}

int lade_megatron_open(struct lade_source **source, const char *index, const char *data, bool whole,
                       const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_bytes maps[2];

    *source = NULL;
    int status = lade_map(&maps[0], index, alloc, error);
    if (status != LADE_OK)
        return status;
    status = lade_map(&maps[1], data, alloc, error);
    if (status == LADE_OK)
        return open_maps(source, maps[0], maps[1], whole, alloc, error);
    lade_unmap(&maps[0], alloc);
    return status;
}

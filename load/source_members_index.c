/* SPDX-License-Identifier: MIT */
/* What an index file has of a source of values. */
#include "members.h"

#include "heap.h"

enum { TEXT_MOST = 4096 };

static void put_field(const struct lade_value_field *f, struct lade_index_writer *w)
{
    lade_index_put_text(w, f->field.name);
    lade_index_put_text(w, f->lookup);
    lade_index_put_number(w, f->member != NULL);
    if (f->member)
        lade_index_put_text(w, f->member);
    lade_index_put_number(w, (uint64_t)f->kind);
    lade_index_put_number(w, (uint64_t)f->field.dtype);
    lade_index_put_number(w, f->field.dims);
    lade_index_put(w, f->field.dim, f->field.dims * sizeof *f->field.dim);
    lade_index_put_number(w, f->field.ragged_max > 0);
    lade_index_put_number(w, f->size.height);
    lade_index_put_number(w, f->size.width);
}

void lade_members_put(const void *self, struct lade_index_writer *w)
{
    const struct lade_members *m = self;

    lade_index_put_number(w, m->count);
    lade_index_put(w, m->start, (size_t)m->count * sizeof *m->start);
    lade_index_put_number(w, m->classes);
    lade_index_put_number(w, m->fields);
    for (unsigned f = 0; f < m->fields; f++) {
        put_field(&m->field[f], w);
        if (m->length[f])
            lade_index_put(w, m->length[f], (size_t)m->count * sizeof *m->length[f]);
    }
}

/* A number below limit; else the reader fails. */
static unsigned take_below(struct lade_index_reader *r, uint64_t limit)
{
    const uint64_t number = lade_index_get_number(r);

    r->failed = r->failed || number >= limit;
    return r->failed ? 0 : (unsigned)number;
}

/* The shape of an image is its size, which the options give, or which is within their limit. */
static bool is_image(const struct lade_members *m, const struct lade_value_field *f)
{
    const struct lade_picture *given = &m->config->size;
    const struct lade_field *is = &f->field;
    const uint64_t height = f->size.height, width = f->size.width;

    if (is->dtype != LADE_U8 || is->dims != 3 || is->ragged_max > 0 || height == 0 || width == 0)
        return false;
    if (is->dim[0] != height || is->dim[1] != width || is->dim[2] != 3)
        return false;
    return given->height ? height == given->height && width == given->width : height <= given->pixels_max / width;
}

/* The longest length, as the ragged dimension of the field. */
static void take_lengths(struct lade_members *m, unsigned f, struct lade_index_reader *r)
{
    uint32_t longest = 1;

    m->length[f] = lade_index_get_array(r, m->count, sizeof *m->length[f]);
    for (uint64_t i = 0; i < m->count && m->length[f]; i++)
        longest = m->length[f][i] > longest ? m->length[f][i] : longest;
    m->field[f].field.ragged_max = longest;
}

static bool take_field(struct lade_members *m, struct lade_index_reader *r)
{
    struct lade_value_field *f = &m->field[m->fields];

    *f = (struct lade_value_field){.alloc = m->alloc,
                                   .size = m->config->size,
                                   .typed = true,
                                   .shaped = true,
                                   .scaled = m->config->size.height > 0};
    m->fields++; /* also on failure: the names are dropped */
    f->field.name = lade_index_get_text(r, LADE_FIELD_NAME_MAX);
    f->lookup = lade_index_get_text(r, TEXT_MOST);
    f->member = take_below(r, 2) ? lade_index_get_text(r, TEXT_MOST) : NULL;
    f->kind = (enum lade_value_kind)take_below(r, LADE_VALUE_FLOATS + 1);
    f->field.dtype = (enum lade_dtype)take_below(r, LADE_C128 + 1);
    f->field.dims = take_below(r, LADE_FIELD_DIMS_MAX + 1);
    lade_index_get(r, f->field.dim, f->field.dims * sizeof *f->field.dim);
    const bool ragged = take_below(r, 2);
    f->size.height = take_below(r, UINT32_MAX);
    f->size.width = take_below(r, UINT32_MAX);
    if (!r->failed && ragged)
        take_lengths(m, m->fields - 1, r);
    return !r->failed && (f->kind != LADE_VALUE_IMAGE || is_image(m, f));
}

/* Starts rise, and lie in the files; a sample has at least 16 bytes. */
static bool take_starts(struct lade_members *m, struct lade_index_reader *r)
{
    uint64_t bytes = 0;

    for (uint64_t i = 0; i < m->files; i++)
        bytes += m->file[i].size;
    m->count = m->space = lade_index_get_number(r);
    if (m->count == 0 || m->count > bytes / 16 || !(m->start = lade_index_get_array(r, m->count, sizeof *m->start)))
        return false;
    for (uint64_t i = 0; i < m->count; i++) {
        const uint64_t file = m->start[i] / LADE_MEMBERS_FILE, begin = m->start[i] % LADE_MEMBERS_FILE;
        if (file >= m->files || begin >= m->file[file].size || (i > 0 && m->start[i] <= m->start[i - 1]))
            return false;
    }
    return true;
}

static bool take_all(struct lade_members *m, struct lade_index_reader *r)
{
    if (!take_starts(m, r))
        return false;
    m->classes = lade_index_get_number(r);
    const unsigned fields = take_below(r, LADE_FIELDS_MAX + 1);
    while (m->fields < fields)
        if (!take_field(m, r))
            return false;
    for (unsigned f = 0; f < fields; f++)
        m->plain[f] = m->field[f].field;
    const struct lade_schema schema = {
        .fields = fields, .field = m->plain, .label = LADE_NO_FIELD, .key = LADE_NO_FIELD, .group = LADE_NO_FIELD};
    return lade_index_complete(r) && m->classes > 0 && m->classes <= LADE_CLASSES_MAX &&
           lade_schema_check(&schema, m->format->kind, NULL) == LADE_OK &&
           lade_members_choose(m, m->config, NULL) == LADE_OK;
}

bool lade_members_take(void *self, struct lade_index_reader *r)
{
    struct lade_members *m = self;

    if (take_all(m, r))
        return true;
    for (unsigned f = 0; f < m->fields; f++) {
        lade_heap_put(m->alloc, m->length[f]);
        m->length[f] = NULL;
        lade_members_drop_names(m, f);
    }
    lade_heap_put(m->alloc, m->start);
    m->start = NULL;
    m->fields = 0;
    m->count = m->space = 0;
    return false;
}

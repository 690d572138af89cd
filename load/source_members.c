/* SPDX-License-Identifier: MIT */
/*
 * A source whose samples are values in files, such as TFRecord and tar. The index has where each sample begins, 8
 * bytes, and 4 bytes for each ragged field; everything else is found again when a sample is read.
 */
#include "members.h"

#include "heap.h"
#include "source_zip.h"

#include <stdio.h>
#include <string.h>

int lade_members_no_memory(struct lade_error *error)
{
    return lade_fail(error, LADE_NO_MEMORY, NULL, LADE_NO_OFFSET, "out of memory");
}

static struct lade_bytes file_of(const struct lade_members *m, uint64_t i, uint64_t *begin)
{
    *begin = m->start[i] & (LADE_MEMBERS_FILE - 1);
    return m->file[m->start[i] / LADE_MEMBERS_FILE];
}

bool lade_members_matches(const struct lade_value_field *f, const char *name, size_t length)
{
    for (const char *at = f->lookup;; at++) {
        const size_t part = strcspn(at, ";");
        if (part == length && !memcmp(at, name, length))
            return true;
        at += part;
        if (*at == 0)
            return false;
    }
}

int lade_members_unpack(const struct lade_members *m, const struct lade_value *value, struct lade_value *to,
                        struct lade_bytes *bytes, struct lade_error *error)
{
    const struct lade_bytes packed = {value->data, value->size, value->file};

    *to = *value;
    bytes->data = NULL;
    if (value->packing == LADE_STORED)
        return LADE_OK;
    int status = lade_unpack_value(bytes, packed, value->offset, value->packing, m->unpacked, m->alloc, error);
    to->data = bytes->data;
    to->size = bytes->size;
    return status;
}

/* What a sample has of the wanted fields. */
struct located {
    const struct lade_members *m;
    uint32_t wanted; /* a bit for each field */
    struct lade_value value[LADE_FIELDS_MAX];
    struct lade_bytes unpacked[LADE_FIELDS_MAX]; /* on the heap; fields that are members of one value share it */
    unsigned count;
};

/* Also after a failure. */
static void locate_end(struct located *l)
{
    while (l->count > 0)
        lade_heap_put(l->m->alloc, (void *)(uintptr_t)l->unpacked[--l->count].data);
}

static int locate_one(void *context, const char *name, size_t length, const struct lade_value *value,
                      struct lade_error *error)
{
    struct located *l = context;
    struct lade_value plain = {.data = NULL};

    for (unsigned f = 0; f < l->m->fields; f++) {
        const struct lade_value_field *field = &l->m->field[f];
        if (!(l->wanted >> f & 1) || !lade_members_matches(field, name, length))
            continue;
        if (value->fault)
            return lade_fail(error, LADE_DAMAGED, value->file, value->offset, "%s", value->fault);
        if (l->value[f].data)
            return lade_fail(error, LADE_DAMAGED, value->file, value->offset, "two fields have the name '%.64s'",
                             field->field.name);
        if (value->kind == LADE_VALUE_RAW && (field->kind == LADE_VALUE_INT64S || field->kind == LADE_VALUE_FLOATS))
            return lade_fail(error, LADE_DAMAGED, value->file, value->offset,
                             "field '%.64s' has bytes, in other samples numbers", field->field.name);
        if (!plain.data) {
            int status = lade_members_unpack(l->m, value, &plain, &l->unpacked[l->count], error);
            l->count += l->unpacked[l->count].data != NULL;
            if (status != LADE_OK)
                return status;
        }
        l->value[f] = plain;
        if (value->kind == LADE_VALUE_RAW)
            l->value[f].kind = field->kind;
    }
    return LADE_OK;
}

/* The values of sample i, one for each wanted field. The caller ends it. */
static int locate(const struct lade_members *m, uint64_t i, uint32_t wanted, struct located *l,
                  struct lade_error *error)
{
    uint64_t begin;
    const struct lade_bytes file = file_of(m, i, &begin);

    l->m = m;
    l->wanted = wanted;
    l->count = 0;
    for (unsigned f = 0; f < m->fields; f++)
        l->value[f].data = NULL;
    return m->format->visit(file, begin, m->check, locate_one, l, error);
}

int lade_members_explain(const struct lade_value *value, int status, struct lade_error *inner, struct lade_error *error)
{
    if (status == LADE_OK || !error)
        return status;
    char *at = strstr(inner->text, ", at byte ");
    if (value->packing == LADE_STORED) {
        *error = *inner;
        return status;
    }
    if (at)
        *at = 0;
    return lade_fail(error, status, NULL, value->offset, "%.*s, in bytes that are compressed", 400, inner->text);
}

static int missing(const struct lade_members *m, uint64_t i, unsigned f, struct lade_error *error)
{
    uint64_t begin;
    const struct lade_bytes file = file_of(m, i, &begin);

    return lade_fail(error, LADE_DAMAGED, file.name, begin, "sample %llu lacks field '%.64s'", (unsigned long long)i,
                     m->field[f].field.name);
}

static int read_field(const struct lade_members *m, uint64_t i, unsigned f, const struct located *l,
                      const struct lade_view *view, struct lade_error *error)
{
    const struct lade_value_field *field = &m->field[f];

    struct lade_error inner = {.status = LADE_OK};

    if (l->value[f].data)
        return lade_members_explain(&l->value[f], lade_value_read(field, &l->value[f], view, &inner), &inner, error);
    return field->field.ragged_max && view->from == 0 && view->length == 0 ? LADE_OK : missing(m, i, f, error);
}

static int take_label(const struct lade_members *m, uint64_t i, const struct located *l, int64_t *label,
                      struct lade_error *error)
{
    uint8_t bytes[8] = {0};
    int64_t number;

    *label = LADE_NO_LABEL;
    if (m->schema.label == LADE_NO_FIELD)
        return LADE_OK;
    const unsigned f = (unsigned)m->schema.label;
    const struct lade_view view = {bytes, 0, 1};
    int status = read_field(m, i, f, l, &view, error);
    if (status == LADE_OK)
        *label = lade_integer_at(m->field[f].field.dtype, bytes, &number) ? number : -1;
    if (status == LADE_OK && (uint64_t)*label >= m->classes)
        return lade_fail(error, LADE_DAMAGED, l->value[f].file, l->value[f].offset, "the label of sample %llu is %s",
                         (unsigned long long)i,
                         *label < 0 ? "negative, or above 2^63" : "not below the number of classes");
    return status;
}

int lade_members_label(const struct lade_members *m, uint64_t i, int64_t *label, struct lade_error *error)
{
    const uint32_t wanted = m->schema.label == LADE_NO_FIELD ? 0 : UINT32_C(1) << m->schema.label;
    struct located l;
    int status = locate(m, i, wanted, &l, error);

    if (status == LADE_OK)
        status = take_label(m, i, &l, label, error);
    locate_end(&l);
    return status;
}

/* Lengths have 32 bits in the index; only fields that may be ragged have any. */
static int check_length(const struct lade_members *m, uint64_t i, unsigned f, const struct lade_value *value,
                        const struct lade_shape *shape, struct lade_error *error)
{
    uint64_t steps = shape->dims ? shape->dim[0] : 1;

    if (m->field[f].shaped)
        (void)lade_value_steps(&m->field[f].field, shape, &steps);
    if (!m->length[f] || steps <= UINT32_MAX)
        return LADE_OK;
    return lade_fail(error, LADE_DAMAGED, value->file, value->offset,
                     "sample %llu has 2^32 steps or more of field '%.64s'", (unsigned long long)i,
                     m->field[f].field.name);
}

int lade_members_shape(const struct lade_members *m, uint64_t i, struct lade_shape *shapes, bool *found,
                       struct lade_error *error)
{
    struct located l;
    struct lade_error inner = {.status = LADE_OK};
    int status = locate(m, i, UINT32_MAX, &l, error);

    for (unsigned f = 0; status == LADE_OK && f < m->fields; f++) {
        found[f] = l.value[f].data != NULL;
        if (found[f])
            status = lade_members_explain(&l.value[f], lade_value_shape(&m->field[f], &l.value[f], &shapes[f], &inner),
                                          &inner, error);
        if (found[f] && status == LADE_OK)
            status = check_length(m, i, f, &l.value[f], &shapes[f], error);
    }
    locate_end(&l);
    return status;
}

static int label_members(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    return lade_members_label(self, i, label, error);
}

static int read_members(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct lade_members *m = self;
    uint32_t wanted = 0;
    struct located l;

    for (unsigned f = 0; f < m->fields; f++)
        wanted |= views[f].data ? UINT32_C(1) << f : 0;
    int status = locate(m, i, wanted, &l, error);
    for (unsigned f = 0; status == LADE_OK && f < m->fields; f++)
        if (views[f].data)
            status = read_field(m, i, f, &l, &views[f], error);
    locate_end(&l);
    return status;
}

static int length_members(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct lade_members *m = self;

    (void)error;
    *length = m->length[field] ? m->length[field][i] : 1;
    return LADE_OK;
}

static void name_members(void *self, uint64_t i, char *to, size_t size)
{
    const struct lade_members *m = self;
    uint64_t begin;
    const struct lade_bytes file = file_of(m, i, &begin);

    if (m->format->name(file, begin, to, size) != LADE_OK)
        (void)snprintf(to, size, "%llu", (unsigned long long)i);
}

/* FNV-1a (Fowler, Noll, Vo 1991) of the name. */
static uint64_t key_members(void *self, uint64_t i)
{
    char name[4097];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    name_members(self, i, name, sizeof name);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return hash;
}

void lade_members_drop_names(struct lade_members *m, unsigned f)
{
    lade_heap_put(m->alloc, (void *)(uintptr_t)m->field[f].field.name);
    lade_heap_put(m->alloc, (void *)(uintptr_t)m->field[f].lookup);
    lade_heap_put(m->alloc, (void *)(uintptr_t)m->field[f].member);
}

static void close_members(void *self)
{
    struct lade_members *m = self;

    for (uint64_t i = 0; i < m->files && m->owned; i++)
        lade_unmap(&m->file[i], m->alloc);
    lade_heap_put(m->alloc, m->file);
    lade_heap_put(m->alloc, m->start);
    lade_heap_put(m->alloc, m->index_file);
    for (unsigned f = 0; f < m->fields; f++) {
        lade_heap_put(m->alloc, m->length[f]);
        lade_members_drop_names(m, f);
    }
    lade_heap_put(m->alloc, m);
}

static int add_start(struct lade_members *m, uint64_t start, struct lade_error *error)
{
    if (m->count == m->space) {
        const uint64_t space = m->space ? 2 * m->space : 1024;
        uint64_t *more = lade_heap_resize(m->alloc, m->start, (size_t)space, sizeof *more);
        if (!more)
            return lade_members_no_memory(error);
        m->start = more;
        m->space = space;
    }
    m->start[m->count++] = start;
    return LADE_OK;
}

/* Where each sample begins. */
static int scan(struct lade_members *m, struct lade_error *error)
{
    int status = LADE_OK;

    for (uint64_t i = 0; i < m->files && status == LADE_OK; i++) {
        uint64_t at = 0, begin = 0;
        if (m->file[i].size >= LADE_MEMBERS_FILE)
            return lade_fail(error, LADE_LIMITED, m->file[i].name, LADE_NO_OFFSET, "has 2^48 bytes or more");
        while ((status = m->format->next(m->file[i], &at, &begin, error)) == LADE_OK &&
               (status = add_start(m, i * LADE_MEMBERS_FILE + begin, error)) == LADE_OK)
            continue;
        status = status == LADE_EMPTY ? LADE_OK : status;
    }
    if (status == LADE_OK && m->count == 0)
        status = lade_fail(error, LADE_DAMAGED, m->file[0].name, 0, "there are no samples");
    return status;
}

/* Frees what the growing index has too much. */
static void shrink(struct lade_members *m)
{
    uint64_t *fewer = lade_heap_resize(m->alloc, m->start, (size_t)m->count, sizeof *fewer);

    m->start = fewer ? fewer : m->start;
}

static int make_source(struct lade_source **source, struct lade_members *m, enum lade_index_use use,
                       struct lade_error *error)
{
    const struct lade_source_ops ops = {.label = label_members,
                                        .name = m->format->name ? name_members : NULL,
                                        .key = m->format->name && m->schema.key == LADE_NO_FIELD ? key_members : NULL,
                                        .close = close_members,
                                        .length = length_members,
                                        .read_fields = read_members};
    struct lade_source_info info = {.kind = m->format->kind,
                                    .count = m->count,
                                    .classes = m->schema.label == LADE_NO_FIELD ? 0 : m->classes,
                                    .index_bytes = m->count * sizeof *m->start,
                                    .schema = &m->schema,
                                    .index_use = use,
                                    .index_file = m->index_file};

    for (unsigned f = 0; f < m->fields; f++) {
        m->plain[f] = m->field[f].field;
        info.index_bytes += m->length[f] ? m->count * sizeof *m->length[f] : 0;
    }
    m->schema.fields = m->fields;
    m->schema.field = m->plain;
    return lade_source_open_custom(source, &ops, m, &info, m->alloc, error);
}

/* All that is known of the samples, from the index or the files. */
static int prepare(struct lade_members *m, const struct lade_members_config *config, struct lade_index *index,
                   struct lade_error *error)
{
    if (index && lade_index_load(index, lade_members_take, m)) {
        m->check = m->check || m->format->scan_checks;
        return LADE_OK;
    }
    int status = scan(m, error);
    if (status == LADE_OK)
        status = lade_members_find(m, config, error);
    if (status == LADE_OK)
        status = lade_members_measure(m, config, error);
    if (status == LADE_OK)
        shrink(m);
    if (status == LADE_OK && index)
        lade_index_save(index, lade_members_put, m);
    return status;
}

int lade_members_open(struct lade_source **source, const struct lade_members_format *format,
                      const struct lade_members_config *config, struct lade_bytes *files, uint64_t count, bool owned,
                      struct lade_index *index, struct lade_error *error)
{
    struct lade_members *m = lade_heap_raw(config->alloc, 1, sizeof *m);

    *source = NULL;
    if (!m) {
        for (uint64_t i = 0; i < count && owned; i++)
            lade_unmap(&files[i], config->alloc);
        lade_heap_put(config->alloc, files);
        return lade_members_no_memory(error);
    }
    *m = (struct lade_members){.format = format,
                               .alloc = config->alloc,
                               .file = files,
                               .files = count,
                               .owned = owned,
                               .check = !config->unchecked && !format->scan_checks,
                               .unpacked = config->unpacked ? config->unpacked : LADE_UNPACKED_MAX,
                               .schema = {.label = LADE_NO_FIELD, .key = LADE_NO_FIELD, .group = LADE_NO_FIELD},
                               .config = config};
    int status = prepare(m, config, index, error);
    m->config = NULL;
    if (status == LADE_OK && index) {
        m->index_file = index->path;
        index->path = NULL;
    }
    if (status == LADE_OK)
        status = make_source(source, m, index ? index->use : LADE_INDEX_NONE, error);
    if (status != LADE_OK)
        close_members(m);
    return status;
}

/* SPDX-License-Identifier: MIT */
/*
 * Fields of a source of values: found in the first samples unless they are declared; their shapes, lengths and classes
 * from all samples. A damaged sample does not make opening fail: reading it does.
 */
#include "members.h"

#include "heap.h"

#include <string.h>

enum { SAMPLES = 16, NAME_MAX_LENGTH = 63 };

struct find {
    struct lade_members *m;
    const struct lade_members_config *config;
    struct lade_error *error; /* for add_member() */
};

static char *copy_text(const struct lade_members *m, const char *text, size_t length)
{
    char *copy = lade_heap_raw(m->alloc, length + 1, 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

/* A field that looks for values of its name or, as a member of the JSON object, for those named "json". */
static int name_field(struct lade_members *m, struct lade_value_field *f, const char *name, bool member,
                      struct lade_error *error)
{
    const size_t lookup = member ? strlen(m->format->json) - 1 : strlen(name);

    f->alloc = m->alloc;
    f->field.name = copy_text(m, name, strlen(name));
    f->lookup = copy_text(m, name, lookup);
    f->member = member ? copy_text(m, name + lookup + 1, strlen(name) - lookup - 1) : NULL;
    m->fields++; /* also on failure: close frees the names */
    return f->field.name && f->lookup && (f->member || !member) ? LADE_OK : lade_members_no_memory(error);
}

static void remove_field(struct lade_members *m, unsigned f)
{
    lade_members_drop_names(m, f);
    m->fields--;
    memmove(&m->field[f], &m->field[f + 1], (m->fields - f) * sizeof *m->field);
}

/* Names that field= cannot have are left out when fields are discovered. */
static bool can_be_declared(const char *name, size_t length)
{
    return length > 0 && length <= NAME_MAX_LENGTH && !memchr(name, 0, length) && !memchr(name, ';', length) &&
           !memchr(name, ':', length);
}

/* A separate value goes before a member of the JSON object that has the same name. */
static int add_field(struct find *find, const char *name, size_t length, enum lade_value_kind kind, bool member,
                     struct lade_error *error)
{
    struct lade_members *m = find->m;
    char text[NAME_MAX_LENGTH + 1];

    if (!can_be_declared(name, length)) { /* left out; the reason is of use if nothing else is found */
        (void)lade_fail(
            error, LADE_DAMAGED, m->file[0].name, LADE_NO_OFFSET,
            "a value has an empty name, one of more than %d characters, or one with ; or :", NAME_MAX_LENGTH);
        return LADE_OK;
    }
    memcpy(text, name, length);
    text[length] = 0;
    for (unsigned f = 0; f < m->fields; f++)
        if (!strcmp(m->field[f].field.name, text)) {
            if (member || !m->field[f].member)
                return LADE_OK;
            remove_field(m, f);
        }
    if (m->fields == LADE_FIELDS_MAX)
        return lade_fail(error, LADE_INVALID, m->format->kind, LADE_NO_OFFSET,
                         "there are more than %d fields; field=NAME chooses some", LADE_FIELDS_MAX);
    struct lade_value_field *f = &m->field[m->fields];
    *f = (struct lade_value_field){
        .field = {.dtype = LADE_U8}, .kind = kind, .size = find->config->size, .scaled = find->config->size.height > 0};
    return name_field(m, f, text, member, error);
}

static int add_member(void *context, const char *name, size_t length)
{
    struct find *find = context;
    char text[NAME_MAX_LENGTH + 1];
    const char *json = find->m->format->json;
    const size_t before = strlen(json);

    if (length == 0 || before + length > NAME_MAX_LENGTH || memchr(name, '\\', length))
        return LADE_OK;
    memcpy(text, json, before);
    memcpy(text + before, name, length);
    return add_field(find, text, before + length, LADE_VALUE_JSON, true, find->error);
}

/* Whether it is an object, after white space: then its members are the fields. */
static bool is_object(const struct lade_value *value)
{
    size_t at = 0;

    while (at < value->size && memchr(" \t\r\n", value->data[at], 4))
        at++;
    return at < value->size && value->data[at] == '{';
}

/* An object under another name than "json" is left out. */
static int find_members(struct find *find, const char *name, size_t length, const struct lade_value *object,
                        struct lade_error *error)
{
    const char *json = find->m->format->json;
    struct lade_error inner = {.status = LADE_OK};

    if (strncmp(json, name, length) != 0 || json[length] != '.')
        return LADE_OK;
    find->error = &inner;
    int status = lade_json_members(object, add_member, find, &inner);
    return lade_members_explain(object, status, &inner, error);
}

static int find_one(void *context, const char *name, size_t length, const struct lade_value *value,
                    struct lade_error *error)
{
    struct find *find = context;
    char text[NAME_MAX_LENGTH + 1] = "";

    if (value->fault) { /* left out; the reason is of use if nothing else is found */
        (void)lade_fail(error, LADE_DAMAGED, value->file, value->offset, "%s", value->fault);
        return LADE_OK;
    }
    if (length <= NAME_MAX_LENGTH)
        memcpy(text, name, length);
    const enum lade_value_kind kind = find->m->format->kind_of(text, value);
    struct lade_value plain = *value;
    struct lade_bytes bytes = {NULL, 0, NULL};
    int status = kind == LADE_VALUE_JSON ? lade_members_unpack(find->m, value, &plain, &bytes, error) : LADE_OK;
    if (status == LADE_OK)
        status = kind == LADE_VALUE_JSON && is_object(&plain) ? find_members(find, text, length, &plain, error)
                                                              : add_field(find, name, length, kind, false, error);
    lade_heap_put(find->m->alloc, (void *)(uintptr_t)bytes.data);
    return status;
}

/* A field that can be read in some samples only is left out. */
static int remove_one(void *context, const char *name, size_t length, const struct lade_value *value,
                      struct lade_error *error)
{
    struct find *find = context;

    (void)error;
    for (unsigned f = find->m->fields; value->fault && f-- > 0;)
        if (lade_members_matches(&find->m->field[f], name, length))
            remove_field(find->m, f);
    return LADE_OK;
}

static int kind_one(void *context, const char *name, size_t length, const struct lade_value *value,
                    struct lade_error *error)
{
    struct find *find = context;
    char text[NAME_MAX_LENGTH + 1] = "";

    (void)error;
    if (length > NAME_MAX_LENGTH || value->fault)
        return LADE_OK;
    memcpy(text, name, length);
    for (unsigned f = 0; f < find->m->fields; f++) {
        struct lade_value_field *field = &find->m->field[f];
        if (!field->typed && lade_members_matches(field, name, length)) {
            field->kind = find->m->format->kind_of(text, value);
            field->typed = true;
        }
    }
    return LADE_OK;
}

static int visit(struct lade_members *m, uint64_t i, lade_visitor *visitor, void *context, struct lade_error *error)
{
    const struct lade_bytes file = m->file[m->start[i] / LADE_MEMBERS_FILE];

    return m->format->visit(file, m->start[i] & (LADE_MEMBERS_FILE - 1), m->check, visitor, context, error);
}

/* The label comes last, images first; all else by name. */
static int rank(const struct lade_value_field *f, const char *label)
{
    return !strcmp(f->field.name, label) ? 2 : f->kind == LADE_VALUE_IMAGE ? 0 : 1;
}

static void sort_fields(struct lade_members *m, const char *label)
{
    for (unsigned i = 1; i < m->fields; i++)
        for (unsigned k = i; k > 0; k--) {
            struct lade_value_field *a = &m->field[k - 1], *b = &m->field[k];
            const int order = rank(a, label) - rank(b, label);
            if (order < 0 || (order == 0 && strcmp(a->field.name, b->field.name) <= 0))
                break;
            const struct lade_value_field t = *a;
            *a = *b;
            *b = t;
        }
}

struct named {
    struct lade_value_field field;
    bool found;
};

static int note_name(void *context, const char *name, size_t length, const struct lade_value *value,
                     struct lade_error *error)
{
    struct named *n = context;

    (void)value, (void)error;
    n->found = n->found || lade_members_matches(&n->field, name, length);
    return LADE_OK;
}

/* Whether a declared field is a member of the JSON object: none of the first samples has a value of its name. */
static bool is_member(struct lade_members *m, const char *name)
{
    const char *json = m->format->json;
    struct named named = {.field.lookup = name, .found = false};

    if (!json || strncmp(name, json, strlen(json)) != 0 || !name[strlen(json)])
        return false;
    for (uint64_t i = 0; i < m->count && i < SAMPLES && !named.found; i++)
        (void)visit(m, i, note_name, &named, NULL);
    return !named.found;
}

static int take_declared(struct lade_members *m, const struct lade_members_config *config, struct lade_error *error)
{
    int status = LADE_OK;

    for (unsigned f = 0; f < config->fields && status == LADE_OK; f++) {
        m->field[f] = config->field[f];
        const char *name = config->field[f].field.name;
        status = name_field(m, &m->field[f], name, is_member(m, name), error);
        m->field[f].size = config->size;
        m->field[f].scaled = config->size.height > 0;
        if (m->field[f].member)
            m->field[f].kind = LADE_VALUE_JSON;
    }
    return status;
}

static bool all_typed(const struct lade_members *m)
{
    for (unsigned f = 0; f < m->fields; f++)
        if (!m->field[f].typed)
            return false;
    return true;
}

static int no_codecs(const struct lade_members *m, struct lade_error *error)
{
    for (unsigned f = 0; f < m->fields; f++)
        if (m->field[f].kind == LADE_VALUE_IMAGE && !lade_decode_offered())
            return lade_fail(error, LADE_INVALID, m->format->kind, LADE_NO_OFFSET,
                             "field '%s' has images, and this build reads none: run tools/setup codecs and build "
                             "again, or declare the bytes with field=%s:u8:*",
                             m->field[f].field.name, m->field[f].field.name);
    return LADE_OK;
}

int lade_members_find(struct lade_members *m, const struct lade_members_config *config, struct lade_error *error)
{
    struct find find = {m, config, NULL};
    const bool declared = config->fields > 0;
    struct lade_error why = {.status = LADE_OK};
    int status = take_declared(m, config, error);

    if (status != LADE_OK)
        return status;
    for (uint64_t i = 0; i < m->count; i++) {
        struct lade_error inner = {.status = LADE_OK};
        if (declared ? all_typed(m) : i >= SAMPLES && m->fields > 0)
            break;
        status = visit(m, i, declared ? kind_one : find_one, &find, &inner);
        if (inner.status != LADE_OK && (why.status == LADE_OK || inner.status != LADE_DAMAGED))
            why = inner;
        if (status != LADE_OK && status != LADE_DAMAGED)
            break;
        status = LADE_OK;
    }
    for (uint64_t i = 0; i < m->count && i < SAMPLES && status == LADE_OK && !declared; i++)
        (void)visit(m, i, remove_one, &find, NULL);
    if (status == LADE_OK && m->fields == 0)
        status = why.status ? why.status
                            : lade_fail(&why, LADE_DAMAGED, m->file[0].name, 0, "the first samples have no values");
    if (status != LADE_OK) {
        if (error)
            *error = why;
        return status;
    }
    if (!declared)
        sort_fields(m, config->label ? config->label : m->format->label);
    return no_codecs(m, error);
}

/* What the samples have shown of the field so far. */
struct seen {
    bool some, varies, gap; /* gap: a sample lacks it */
    struct lade_shape shape;
    uint64_t longest;
};

/* The first sample decides about type and rows; the leading dimension may differ. */
static void see(struct lade_value_field *f, struct seen *s, const struct lade_shape *shape, uint64_t *length)
{
    const uint64_t lead = shape->dims ? shape->dim[0] : 1;

    *length = 0;
    if (f->shaped) {
        if (!lade_value_steps(&f->field, shape, length))
            *length = 0;
    } else if (!s->some) {
        s->shape = *shape;
        *length = lead;
    } else if (shape->dtype == s->shape.dtype && shape->dims == s->shape.dims) {
        bool same = true;
        for (unsigned d = 1; d < shape->dims; d++)
            same = same && shape->dim[d] == s->shape.dim[d];
        *length = same ? lead : 0;
        s->varies = s->varies || (same && lead != s->shape.dim[0] && shape->dims > 0);
    }
    s->some = true;
    s->longest = *length > s->longest ? *length : s->longest;
    if (f->kind == LADE_VALUE_IMAGE && f->size.height == 0) {
        f->size.height = (uint32_t)shape->dim[0];
        f->size.width = (uint32_t)shape->dim[1];
    }
}

/* Whether the lengths of all samples are needed. */
static bool is_open(const struct lade_value_field *f)
{
    return f->kind != LADE_VALUE_IMAGE && (!f->shaped || f->field.ragged_max > 0);
}

static int measure_sample(struct lade_members *m, uint64_t i, struct seen *seen, struct lade_error *error)
{
    struct lade_shape shapes[LADE_FIELDS_MAX];
    bool found[LADE_FIELDS_MAX] = {false};
    int status = lade_members_shape(m, i, shapes, found, error);

    for (unsigned f = 0; f < m->fields; f++) {
        uint64_t length = 0;
        if (status == LADE_OK && found[f])
            see(&m->field[f], &seen[f], &shapes[f], &length);
        seen[f].gap = seen[f].gap || (status == LADE_OK && !found[f]);
        if (m->length[f])
            m->length[f][i] = (uint32_t)length; /* lade_members_shape() has checked it */
    }
    return status;
}

/* The shape of a field that is not declared. */
static int decide(struct lade_members *m, unsigned number, const struct seen *s, bool label, struct lade_error *error)
{
    struct lade_value_field *f = &m->field[number];
    bool ragged = f->shaped ? f->field.ragged_max > 0 : s->varies || (s->gap && s->shape.dims > 0 && !label);

    if (!s->some && !(f->shaped && !is_open(f)))
        return lade_fail(error, LADE_DAMAGED, m->file[0].name, 0, "no sample has a field '%.64s' that can be read",
                         f->field.name);
    if (!f->shaped) {
        ragged = f->kind != LADE_VALUE_IMAGE && (ragged || (s->shape.dims > 0 && s->longest == 0));
        const unsigned skip = ragged || (s->shape.dims == 1 && s->shape.dim[0] == 1 && f->kind != LADE_VALUE_NPY);
        f->field.dtype = s->shape.dtype;
        f->field.dims = s->shape.dims - skip;
        memcpy(f->field.dim, s->shape.dim + skip, f->field.dims * sizeof *f->field.dim);
        f->shaped = true;
    }
    f->field.ragged_max = !ragged ? 0 : s->longest ? s->longest : 1;
    if (!ragged) {
        lade_heap_put(m->alloc, m->length[number]);
        m->length[number] = NULL;
    }
    return LADE_OK;
}

static int field_named(const struct lade_members *m, const char *name)
{
    for (unsigned f = 0; f < m->fields && name; f++)
        if (!strcmp(m->field[f].field.name, name))
            return (int)f;
    return LADE_NO_FIELD;
}

static bool is_label(const struct lade_members *m, int f)
{
    const struct lade_field *field = f < 0 ? NULL : &m->field[f].field;

    return field && field->ragged_max == 0 && lade_field_elements(field) == 1 && lade_dtype_is_integer(field->dtype);
}

int lade_members_choose(struct lade_members *m, const struct lade_members_config *config, struct lade_error *error)
{
    const char *const names[] = {config->label, config->key, config->group};
    int *const to[] = {&m->schema.label, &m->schema.key, &m->schema.group};

    for (unsigned n = 0; n < 3; n++) {
        *to[n] = field_named(m, names[n]);
        if (names[n] && *to[n] == LADE_NO_FIELD)
            return lade_fail(error, LADE_INVALID, m->format->kind, LADE_NO_OFFSET, "there is no field '%.64s'",
                             names[n]);
    }
    if (config->label && !is_label(m, m->schema.label))
        return lade_fail(error, LADE_INVALID, m->format->kind, LADE_NO_OFFSET,
                         "the label '%.64s' is not one integer in each sample", config->label);
    if (!config->label && is_label(m, field_named(m, m->format->label)))
        m->schema.label = field_named(m, m->format->label);
    return no_codecs(m, error);
}

/* The largest label + 1. */
static int count_classes(struct lade_members *m, const struct lade_members_config *config, struct lade_error *error)
{
    int64_t label, most = 0;

    m->classes = config->classes ? config->classes : INT64_MAX;
    for (uint64_t i = 0; i < m->count && m->schema.label != LADE_NO_FIELD && !config->classes; i++)
        if (lade_members_label(m, i, &label, NULL) == LADE_OK && label > most)
            most = label;
    if (config->classes == 0)
        m->classes = (uint64_t)most + 1;
    return m->classes <= LADE_CLASSES_MAX ? LADE_OK
                                          : lade_fail(error, LADE_DAMAGED, m->format->kind, LADE_NO_OFFSET,
                                                      "a label is not below 2^24, the most classes");
}

/* Images that are scaled have their shape already. */
static void shape_scaled(struct lade_value_field *f)
{
    if (f->kind == LADE_VALUE_IMAGE && f->scaled) {
        f->field.dtype = LADE_U8;
        f->field.dims = 3;
        f->field.dim[0] = f->size.height;
        f->field.dim[1] = f->size.width;
        f->field.dim[2] = 3;
        f->field.ragged_max = 0;
        f->shaped = true;
    }
}

/* Whether an image has not been found yet. */
static bool lacks_size(const struct lade_members *m)
{
    for (unsigned f = 0; f < m->fields; f++)
        if (m->field[f].kind == LADE_VALUE_IMAGE && m->field[f].size.height == 0)
            return true;
    return false;
}

/* Whether the fault is that of one sample. */
static bool is_in_file(int status)
{
    return status == LADE_OK || status == LADE_DAMAGED || status == LADE_LIMITED;
}

/* Stores the first error: it is reported if no sample can be read. */
static int measure_all(struct lade_members *m, bool all, struct seen *seen, struct lade_error *first)
{
    for (uint64_t i = 0; i < m->count && (all || lacks_size(m)); i++) {
        struct lade_error inner = {.status = LADE_OK};
        int status = measure_sample(m, i, seen, &inner);
        if (!is_in_file(status)) {
            *first = inner;
            return status;
        }
        if (status != LADE_OK && first->status == LADE_OK)
            *first = inner;
    }
    for (unsigned f = 0; f < m->fields; f++)
        if (seen[f].some || first->status == LADE_OK)
            return LADE_OK;
    return first->status;
}

int lade_members_measure(struct lade_members *m, const struct lade_members_config *config, struct lade_error *error)
{
    struct seen seen[LADE_FIELDS_MAX] = {{.some = false}};
    struct lade_error first = {.status = LADE_OK};
    const char *label = config->label ? config->label : m->format->label;
    bool all = false;

    for (unsigned f = 0; f < m->fields; f++) {
        shape_scaled(&m->field[f]);
        all = all || is_open(&m->field[f]);
        if (is_open(&m->field[f]) && !(m->length[f] = lade_heap_raw(m->alloc, (size_t)m->count, sizeof *m->length[f])))
            return lade_members_no_memory(error);
    }
    int status = measure_all(m, all, seen, &first);
    if (status != LADE_OK) {
        if (error)
            *error = first;
        return status;
    }
    for (unsigned f = 0; f < m->fields && status == LADE_OK; f++)
        status = decide(m, f, &seen[f], !strcmp(m->field[f].field.name, label), error);
    if (status == LADE_OK)
        status = lade_members_choose(m, config, error);
    return status == LADE_OK ? count_classes(m, config, error) : status;
}

/* SPDX-License-Identifier: MIT */
/* The columns of an Arrow schema that are fields. */
#include "arrow.h"

#include "heap.h"

#include <string.h>

/* Of a walk through the schema. */
struct choice {
    struct lade_arrow *t;
    const struct lade_source_arrow *config;
    uint32_t path[LADE_ARROW_DEPTH];
    char name[512];
    struct lade_error *error;
};

static int refuse(const struct choice *c, const char *why, const char *what)
{
    return lade_fail(c->error, LADE_INVALID, c->t->file, LADE_NO_OFFSET, "column '%.64s' %s%.24s; choose other columns",
                     c->name, why, what);
}

/* Element types by their letter; dates, times and durations are integers. */
static bool element_of(const char *format, enum lade_dtype *dtype)
{
    static const char letters[] = "cCsSiIlLefg";
    static const enum lade_dtype dtypes[] = {LADE_I8,  LADE_U8,  LADE_I16, LADE_U16, LADE_I32, LADE_U32,
                                             LADE_I64, LADE_U64, LADE_F16, LADE_F32, LADE_F64};
    static const char *const times[] = {"tdD", "tts", "ttm", "tdm", "ttu", "ttn", "tDs", "tDm", "tDu", "tDn"};
    const char *letter = format[0] ? strchr(letters, format[0]) : NULL;

    if (letter && !format[1]) {
        *dtype = dtypes[letter - letters];
        return true;
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (!strcmp(format, times[i])) {
            *dtype = i < 3 ? LADE_I32 : LADE_I64;
            return true;
        }
    *dtype = LADE_I64;
    return !strncmp(format, "ts", 2) && format[2] && strchr("smun", format[2]) && format[3] == ':';
}

/* The number behind "w:" or "+w:"; 0: none, or too large. */
static uint64_t number_of(const char *text)
{
    uint64_t number = 0;

    for (; *text >= '0' && *text <= '9' && number < UINT32_MAX; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return *text || number > INT32_MAX ? 0 : number;
}

static bool has_children(const struct ArrowSchema *s, int64_t count)
{
    if (s->n_children != count || (count > 0 && !s->children))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!s->children[i] || !s->children[i]->format)
            return false;
    return true;
}

static bool add_dimension(struct lade_arrow_type *type, uint64_t size)
{
    struct lade_field *f = &type->value.field;

    if (size == 0 || f->dims == LADE_FIELD_DIMS_MAX || type->items > (UINT64_C(1) << 40) / size)
        return false;
    f->dim[f->dims++] = size;
    type->items *= size;
    return true;
}

/* The type of elements, and the fixed-size lists around them. */
static int take_elements(const struct choice *c, struct lade_arrow_type *type, const struct ArrowSchema *s)
{
    struct lade_field *f = &type->value.field;

    for (; !strncmp(s->format, "+w:", 3); s = s->children[0]) {
        if (!has_children(s, 1) || !add_dimension(type, number_of(s->format + 3)) || s->dictionary)
            return refuse(c, "has fixed-size lists without elements, or too many: ", s->format);
        type->size[type->levels++] = number_of(s->format + 3);
    }
    type->slot = 1;
    if (!has_children(s, 0) || s->dictionary)
        return refuse(c, "has a type that no field has: ", s->format);
    if (!strncmp(s->format, "w:", 2)) {
        type->raw = f->dtype = LADE_U8;
        type->slot = number_of(s->format + 2);
        return add_dimension(type, type->slot) ? LADE_OK
                                               : refuse(c, "has values of a size that no field has: ", s->format);
    }
    type->is_bits = !strcmp(s->format, "b");
    f->dtype = LADE_BOOL;
    if (!type->is_bits && !element_of(s->format, &f->dtype))
        return refuse(c, "has a type that no field has: ", s->format);
    type->raw = f->dtype;
    return LADE_OK;
}

static bool is_text(const char *format)
{
    return (format[0] && strchr("uzUZ", format[0])) && !format[1];
}

static int take_dictionary(const struct choice *c, struct lade_arrow_type *type, const struct ArrowSchema *s)
{
    if (!element_of(s->format, &type->raw) || !lade_dtype_is_integer(type->raw) || s->format[1] ||
        !s->dictionary->format || !is_text(s->dictionary->format) || s->dictionary->dictionary || !has_children(s, 0))
        return refuse(c, "has a dictionary, not of strings, but of type ",
                      s->dictionary->format ? s->dictionary->format : "");
    type->is_dictionary = true;
    type->slot = 1;
    type->value.field.dtype = LADE_I32;
    return LADE_OK;
}

static int take_type(const struct choice *c, struct lade_arrow_type *type, const struct ArrowSchema *s, bool image)
{
    const char *format = s->format;

    type->items = 1;
    type->is_bytes = is_text(format) && !s->dictionary;
    if (image && !type->is_bytes)
        return refuse(c, "is not binary, so it has no images: ", format);
    if (image && !lade_decode_offered())
        return refuse(c, "has images, which this build cannot decode (libturbojpeg and libspng are missing)", "");
    if (s->dictionary)
        return take_dictionary(c, type, s);
    if (type->is_bytes) {
        type->is_list = !image;
        type->is_image = image;
        type->wide = format[0] == 'U' || format[0] == 'Z';
        type->raw = type->value.field.dtype = LADE_U8;
        type->slot = 1;
        type->value.field.ragged_max = !image;
        type->value.kind = image ? LADE_VALUE_IMAGE : LADE_VALUE_RAW;
        return LADE_OK;
    }
    if (!strcmp(format, "+l") || !strcmp(format, "+L")) {
        if (!has_children(s, 1))
            return refuse(c, "is a list without elements: ", format);
        type->is_list = true;
        type->wide = format[1] == 'L';
        type->value.field.ragged_max = 1; /* measured later */
        s = s->children[0];
    }
    return take_elements(c, type, s);
}

/* The bytes of config->fill. */
static int set_fill(const struct choice *c, struct lade_arrow_type *type)
{
    const double v = c->config->fill;
    const int64_t whole = v >= -0x1p53 && v <= 0x1p53 ? (int64_t)v : 0;
    const size_t width = lade_dtype_size(type->value.field.dtype);
    const bool is_float = type->value.field.dtype == LADE_F32 || type->value.field.dtype == LADE_F64;
    const float narrow = (float)v;
    int64_t back = 0;

    if (type->value.field.dtype == LADE_F64)
        memcpy(type->fill, &v, sizeof v);
    else if (type->value.field.dtype == LADE_F32)
        memcpy(type->fill, &narrow, sizeof narrow);
    else if (v == 0)
        return LADE_OK;
    if (is_float)
        return LADE_OK;
    if (lade_machine_is_big())
        memcpy(type->fill, (const uint8_t *)&whole + 8 - width, width);
    else
        memcpy(type->fill, &whole, width);
    const bool reads = type->value.field.dtype != LADE_F16 && type->value.field.dtype < LADE_F32 &&
                       lade_integer_at(type->value.field.dtype, type->fill, &back);
    return reads && (double)whole == v && back == whole && (type->value.field.dtype != LADE_BOOL || back == 1)
               ? LADE_OK
               : refuse(c, "cannot have the value that fills nulls", "");
}

static int add_column(struct choice *c, const struct ArrowSchema *s, unsigned depth, unsigned number, bool image)
{
    struct lade_arrow *t = c->t;
    struct lade_arrow_type *type = &t->column[number];

    if (type->value.field.name)
        return lade_fail(c->error, LADE_INVALID, t->file, LADE_NO_OFFSET, "there are two columns '%.64s'", c->name);
    *type = (struct lade_arrow_type){.value = {.alloc = t->alloc}};
    if (strlen(c->name) > LADE_FIELD_NAME_MAX)
        return refuse(c, "has a name above 63 bytes", "");
    strcpy(type->name, c->name);
    type->value.field.name = type->name;
    type->value.size = (struct lade_picture){.height = c->config->height,
                                             .width = c->config->width,
                                             .pixels_max = c->config->pixels ? c->config->pixels : LADE_PIXELS_MAX};
    type->value.scaled = c->config->height > 0;
    type->depth = depth;
    memcpy(type->path, c->path, depth * sizeof *c->path);
    int status = take_type(c, type, s, image);
    if (status == LADE_OK && t->nulls == LADE_NULLS_FILL && !type->is_image)
        status = set_fill(c, type);
    while (type->top < t->tops && t->top[type->top] != c->path[0])
        type->top++;
    if (type->top == t->tops)
        t->top[t->tops++] = c->path[0];
    return status;
}

/* Adds the column if it is wanted. */
static int take_column(struct choice *c, const struct ArrowSchema *s, unsigned depth)
{
    const struct lade_source_arrow *config = c->config;

    for (unsigned i = 0; i < config->columns; i++)
        if (!strcmp(config->column[i].name, c->name))
            return add_column(c, s, depth, i, config->column[i].image);
    if (config->columns > 0)
        return LADE_OK;
    if (c->t->columns == LADE_FIELDS_MAX)
        return lade_fail(c->error, LADE_INVALID, c->t->file, LADE_NO_OFFSET,
                         "there are more than %d columns; choose some", LADE_FIELDS_MAX);
    return add_column(c, s, depth, c->t->columns++, false);
}

/* The columns of a struct, the table first. */
static int take_struct(struct choice *c, const struct ArrowSchema *s, unsigned depth, size_t prefix)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        const struct ArrowSchema *child = s->children[i];
        const char *name = child->name ? child->name : "";
        const size_t length = strlen(name);
        if (prefix + length + 2 > sizeof c->name)
            return lade_fail(c->error, LADE_INVALID, c->t->file, LADE_NO_OFFSET, "a column has too long a name");
        memcpy(c->name + prefix, name, length + 1);
        c->path[depth] = (uint32_t)i;
        int status;
        if (!strcmp(child->format, "+s") && depth + 1 < LADE_ARROW_DEPTH) {
            c->name[prefix + length] = '.';
            status = child->n_children > UINT16_MAX || !has_children(child, child->n_children)
                         ? lade_fail(c->error, LADE_DAMAGED, c->t->file, LADE_NO_OFFSET, "a struct lacks its columns")
                         : take_struct(c, child, depth + 1, prefix + length + 1);
        } else {
            status = take_column(c, child, depth + 1);
        }
        if (status != LADE_OK)
            return status;
    }
    return LADE_OK;
}

/* The field of a role; LADE_NO_FIELD without a name. False: there is none. */
static bool find_role(const struct lade_arrow *t, const char *name, int *field)
{
    *field = LADE_NO_FIELD;
    for (unsigned f = 0; name && f < t->columns; f++)
        if (!strcmp(t->column[f].name, name))
            *field = (int)f;
    return !name || *field != LADE_NO_FIELD;
}

int lade_arrow_choose(struct lade_arrow *t, const struct lade_source_arrow *config, struct lade_error *error)
{
    struct choice c = {.t = t, .config = config, .error = error};
    const struct ArrowSchema *s = &t->schema;

    if (!s->format || strcmp(s->format, "+s") != 0 || s->n_children < 0 || s->n_children > UINT16_MAX ||
        !has_children(s, s->n_children))
        return lade_fail(error, LADE_DAMAGED, t->file, LADE_NO_OFFSET, "the schema is not that of a table");
    if (config->columns > LADE_FIELDS_MAX || (config->columns > 0 && !config->column))
        return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET, "there are 1 to %d columns", LADE_FIELDS_MAX);
    for (unsigned i = 0; i < config->columns; i++)
        if (!config->column[i].name)
            return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET, "column %u has no name", i);
    t->columns = config->columns;
    t->nulls = config->nulls;
    int status = take_struct(&c, s, 0, 0);
    if (status != LADE_OK)
        return status;
    for (unsigned i = 0; i < config->columns; i++)
        if (!t->column[i].value.field.name)
            return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET,
                             "there is no column '%.64s', or another has that name already", config->column[i].name);
    if (t->columns == 0)
        return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET, "there are no columns");
    if (!find_role(t, config->label, &t->roles.label) || !find_role(t, config->key, &t->roles.key) ||
        !find_role(t, config->group, &t->roles.group))
        return lade_fail(error, LADE_INVALID, t->file, LADE_NO_OFFSET, "label, key or group names no chosen column");
    return LADE_OK;
}

/* SPDX-License-Identifier: MIT */
/* lade convert: how each field is written, and the text that opens the result. */
#define _POSIX_C_SOURCE 200809L
#include "convert.h"

#include <stdlib.h>
#include <string.h>

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define WORD CAPITALS "abcdefghijklmnopqrstuvwxyz0123456789_.-"

static int unfit(const char *why, const char *what)
{
    print_error("convert: field '%s' %s", what, why);
    return EXIT_USAGE;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);

    return length >= tail && !strcmp(name + length - tail, end) && (length == tail || name[length - tail - 1] == '.');
}

static bool is_integer(enum lade_dtype dtype)
{
    return dtype >= LADE_U8 && dtype <= LADE_I64;
}

static bool is_scalar(const struct lade_field *f)
{
    return f->ragged_max == 0 && lade_field_bytes(f) == lade_dtype_size(f->dtype);
}

/* As 64-bit integers; a u64 that is no label may be too large for that. */
static bool fits_i64(const struct convert *c, unsigned column)
{
    const enum lade_dtype dtype = c->column[column].field.dtype;

    return is_integer(dtype) && (dtype != LADE_U64 || c->label == (int)column);
}

static void make_i64(struct column *column)
{
    column->field.dtype = LADE_I64;
    column->field.dims = 0;
}

/* One tensor and one label. */
static int plan_records(struct convert *c)
{
    const unsigned tensor = c->label == 0 ? 1 : 0;
    const bool labelled = c->label != LADE_NO_FIELD;

    if (c->columns != 1u + labelled || (c->columns == 1 && labelled)) {
        print_error("convert: records hold one tensor and one label, not %u fields%s; write npy, tar or tfrecord, or "
                    "choose with --field",
                    c->columns, labelled ? "" : " without a label");
        return EXIT_USAGE;
    }
    if (c->column[tensor].field.ragged_max > 0)
        return unfit("is ragged, and records have one size; write npy, tar or tfrecord", c->column[tensor].name);
    if (labelled) {
        c->label_width = c->info->classes <= 1u << 8 ? 1 : c->info->classes <= 1u << 16 ? 2 : 4;
        make_i64(&c->column[c->label]);
        c->column[c->label].encoding = AS_INTEGERS;
        strcpy(c->column[c->label].name, "label");
    }
    strcpy(c->column[tensor].name, "sample");
    return EXIT_DONE;
}

/* npy:NAME=FILE gives the names label, key and group a role. */
static int plan_npy(struct convert *c)
{
    const int role[] = {c->label, c->key, c->group};
    static const char *const named[] = {"label", "key", "group"};

    for (unsigned r = 3; r-- > 0;)
        if (role[r] != LADE_NO_FIELD)
            strcpy(c->column[role[r]].name, named[r]);
    if (c->label != LADE_NO_FIELD)
        c->column[c->label].field.dims = 0;
    for (unsigned f = 0; f < c->columns; f++) {
        if (strspn(c->column[f].name, WORD) != strlen(c->column[f].name) || ends_with(c->column[f].name, "offsets"))
            return unfit("cannot be named in npy:NAME=FILE; --field NAME=AS gives another name", c->column[f].name);
        if (c->column[f].field.ragged_max > 0 && c->column[f].steps == 0)
            return unfit("is empty in all samples, and npy has no empty arrays; leave it out with --field",
                         c->column[f].name);
    }
    return EXIT_DONE;
}

/* Names are extensions in lower case; the last part shows how a value is encoded. */
static int plan_member(struct convert *c, unsigned f, const char *end)
{
    struct column *column = &c->column[f];

    if (strlen(column->name) + strlen(end) + 1 > LADE_FIELD_NAME_MAX)
        return unfit("has a name that is too long for a member of tar; --field NAME=AS gives another", column->name);
    if (!ends_with(column->name, end)) {
        strcat(column->name, ".");
        strcat(column->name, end);
    }
    return EXIT_DONE;
}

static int plan_tar(struct convert *c)
{
    for (unsigned f = 0; f < c->columns; f++) {
        struct column *column = &c->column[f];
        struct lade_field *field = &column->field;
        int code = EXIT_DONE;
        for (char *at = column->name; (at = strpbrk(at, CAPITALS)); at++)
            *at = (char)(*at - 'A' + 'a');
        if (strspn(column->name, WORD) != strlen(column->name) || *column->name == '.')
            return unfit("cannot be an extension of a member; --field NAME=AS gives another name", column->name);
        if (is_scalar(field) && fits_i64(c, f)) {
            column->encoding = AS_DIGITS;
            make_i64(column);
            if (c->label == (int)f && c->chosen == 0)
                strcpy(column->name, "cls");
            code = plan_member(c, f, "cls");
        } else if (field->ragged_max > 0 && field->dtype == LADE_U8 && field->dims == 0) {
            column->encoding = AS_ELEMENTS;
        } else {
            column->encoding = AS_ARRAY;
            if (field->ragged_max > 0 && (field->dims == LADE_FIELD_DIMS_MAX || column->steps == 0))
                return unfit(column->steps ? "has more than 8 dimensions with the ragged one, the most that tar holds"
                                           : "is empty in all samples; leave it out with --field",
                             column->name);
            code = plan_member(c, f, "npy");
        }
        if (code != EXIT_DONE)
            return code;
    }
    return EXIT_DONE;
}

static int plan_tfrecord(struct convert *c)
{
    for (unsigned f = 0; f < c->columns; f++) {
        struct column *column = &c->column[f];
        struct lade_field *field = &column->field;
        if (strspn(column->name, WORD "/") != strlen(column->name))
            return unfit("cannot be declared in tfrecord:FILE,field=NAME; --field NAME=AS gives another name",
                         column->name);
        if (is_scalar(field) && fits_i64(c, f)) {
            column->encoding = AS_INTEGERS;
            make_i64(column);
        } else {
            column->encoding = field->dtype == LADE_I64   ? AS_INTEGERS
                               : field->dtype == LADE_F32 ? AS_FLOATS
                                                          : AS_ELEMENTS;
        }
    }
    return EXIT_DONE;
}

static int check_names(const struct convert *c)
{
    for (unsigned f = 0; f < c->columns; f++)
        for (unsigned other = 0; other < f; other++)
            if (!strcmp(c->column[f].name, c->column[other].name))
                return unfit("would be there twice in the result; --field NAME=AS gives one another name",
                             c->column[f].name);
    return EXIT_DONE;
}

/* The column of a field of the source. */
static int column_of(const struct convert *c, int field)
{
    for (unsigned f = 0; f < c->columns; f++)
        if ((int)c->column[f].from == field)
            return (int)f;
    return LADE_NO_FIELD;
}

static int add_column(struct convert *c, unsigned from, const char *name, const char *end)
{
    struct column *column = &c->column[c->columns++];

    if (end == name || end - name > LADE_FIELD_NAME_MAX) {
        print_error("convert: --field: a name has 1 to %d bytes", LADE_FIELD_NAME_MAX);
        return EXIT_USAGE;
    }
    *column = (struct column){.from = from, .field = lade_source_schema(c->source)->field[from]};
    memcpy(column->name, name, (size_t)(end - name));
    column->field.name = column->name;
    return EXIT_DONE;
}

/* --field NAME or NAME=AS. */
static int choose_field(struct convert *c, const char *text)
{
    const struct lade_schema *schema = lade_source_schema(c->source);
    const size_t length = strcspn(text, "=");

    for (unsigned f = 0; f < schema->fields; f++) {
        const char *name = schema->field[f].name;
        if (strlen(name) != length || strncmp(name, text, length) != 0)
            continue;
        const char *as = text[length] ? text + length + 1 : text;
        return column_of(c, (int)f) == LADE_NO_FIELD ? add_column(c, f, as, as + strlen(as))
                                                     : unfit("is given twice: --field", name);
    }
    print_error("convert: --field: there is no field '%.*s'; lade inspect lists them", (int)length, text);
    return EXIT_USAGE;
}

static int choose_columns(struct convert *c)
{
    const struct lade_schema *schema = lade_source_schema(c->source);
    int code = EXIT_DONE;

    for (unsigned f = 0; f < schema->fields && c->chosen == 0 && code == EXIT_DONE; f++)
        code = add_column(c, f, schema->field[f].name, schema->field[f].name + strlen(schema->field[f].name));
    for (unsigned f = 0; f < c->chosen && code == EXIT_DONE; f++)
        code = choose_field(c, c->field[f]);
    c->label = column_of(c, schema->label);
    c->key = column_of(c, schema->key);
    c->group = column_of(c, schema->group);
    return code;
}

/* Steps of ragged fields, from the index. */
static int count_steps(struct convert *c)
{
    struct lade_error error;

    for (unsigned f = 0; f < c->columns; f++) {
        struct column *column = &c->column[f];
        for (uint64_t p = 0; p < c->count && column->field.ragged_max > 0; p++) {
            uint64_t length;
            if (lade_source_length(c->source, convert_sample(c, p), column->from, &length, &error) != LADE_OK)
                return source_trouble("convert", &error);
            column->steps += length;
        }
    }
    return EXIT_DONE;
}

static void print_escaped(FILE *to, const char *path)
{
    for (; *path; path++) {
        if (*path == ',' || *path == '\\')
            fputc('\\', to);
        fputc(*path, to);
    }
}

static void print_path(FILE *to, const struct convert *c, unsigned column, bool offsets)
{
    char *path = convert_file(c, 0, column, offsets);

    if (path)
        print_escaped(to, path);
    free(path);
}

/* "8x8", "*x8", "*"; nothing for a single element. */
static void print_shape(FILE *to, const struct lade_field *field, const char *before)
{
    if (field->dims > 0 || field->ragged_max > 0)
        fputs(before, to);
    fputs(field->ragged_max ? "*" : "", to);
    for (unsigned d = 0; d < field->dims; d++)
        fprintf(to, "%s%llu", d || field->ragged_max ? "x" : "", (big)field->dim[d]);
}

static void print_records(FILE *to, const struct convert *c)
{
    const struct lade_field *tensor = &c->column[c->label == 0 ? 1 : 0].field;

    fprintf(to, "records:");
    print_path(to, c, 0, false);
    fprintf(to, ",size=%zu", lade_field_bytes(tensor) + c->label_width);
    if (c->label_width)
        fprintf(to, ",label=0:%u,classes=%llu", c->label_width, (big)c->info->classes);
    fprintf(to, ",dtype=%s", lade_dtype_name(tensor->dtype));
    print_shape(to, tensor, ",shape=");
}

static void print_npy(FILE *to, const struct convert *c)
{
    for (unsigned f = 0; f < c->columns; f++) {
        fprintf(to, "%s%s=", f ? "," : "npy:", c->column[f].name);
        print_path(to, c, f, false);
        if (c->column[f].field.ragged_max == 0)
            continue;
        fprintf(to, ",%s.offsets=", c->column[f].name);
        print_path(to, c, f, true);
    }
}

static void print_declared(FILE *to, const struct column *column)
{
    fprintf(to, ",field=%s:", column->name);
    if (column->encoding == AS_DIGITS || column->encoding == AS_ARRAY) {
        fputs(column->encoding == AS_DIGITS ? "int" : "npy", to);
        return;
    }
    fputs(lade_dtype_name(column->field.dtype), to);
    print_shape(to, &column->field, ":");
}

static void print_members(FILE *to, const struct convert *c)
{
    const int role[] = {c->label, c->key, c->group};
    static const char *const named[] = {"label", "key", "group"};

    fprintf(to, "%s:", convert_formats[c->format]);
    if (c->shard_size) {
        print_escaped(to, c->base);
        fprintf(to, "-{00000..%05llu}.%s", (big)c->shards - 1, convert_formats[c->format]);
    } else {
        print_path(to, c, 0, false);
    }
    for (unsigned f = 0; f < c->columns; f++)
        print_declared(to, &c->column[f]);
    for (unsigned r = 0; r < 3; r++)
        if (role[r] != LADE_NO_FIELD)
            fprintf(to, ",%s=%s", named[r], c->column[role[r]].name);
    if (c->label != LADE_NO_FIELD)
        fprintf(to, ",classes=%llu", (big)c->info->classes);
}

static int print_opens(struct convert *c)
{
    size_t size;
    FILE *to = open_memstream(&c->opens, &size);

    if (!to)
        return convert_no_memory();
    if (c->format == TO_RECORDS)
        print_records(to, c);
    else if (c->format == TO_NPY)
        print_npy(to, c);
    else
        print_members(to, c);
    return fclose(to) == 0 ? EXIT_DONE : convert_no_memory();
}

static uint64_t hash(uint64_t before, const void *bytes, size_t size)
{
    const uint8_t *byte = bytes; /* FNV-1a (Fowler, Noll, Vo 1991) */

    for (size_t i = 0; i < size; i++)
        before = (before ^ byte[i]) * UINT64_C(0x100000001b3);
    return before;
}

/* What decides about the bytes of the result, the first and the last sample among it. */
static int hash_plan(struct convert *c)
{
    const uint64_t numbers[] = {c->count, c->shuffled, c->shuffled ? c->seed : 0, c->shard_size, c->format};
    uint64_t h = hash(UINT64_C(0xcbf29ce484222325), c->text, strlen(c->text) + 1);

    h = hash(h, c->opens, strlen(c->opens));
    h = hash(h, numbers, sizeof numbers);
    for (unsigned f = 0; f < c->columns; f++)
        h = hash(h, &c->column[f].from, sizeof c->column[f].from);
    if (c->member)
        h = hash(h, c->member, (size_t)c->count * sizeof *c->member);
    for (int last = 0; last < 2; last++) {
        const int code = convert_read(c, last ? c->count - 1 : 0);
        if (code != EXIT_DONE)
            return code;
        h = hash(h, c->sample.bytes, c->sample.size);
    }
    c->plan = h;
    return EXIT_DONE;
}

int convert_plan(struct convert *c)
{
    static int (*const plans[])(struct convert *) = {plan_records, plan_npy, plan_tar, plan_tfrecord};
    int code = choose_columns(c);

    if (code == EXIT_DONE)
        code = count_steps(c);
    if (code == EXIT_DONE)
        code = plans[c->format](c);
    if (code == EXIT_DONE)
        code = check_names(c);
    if (code == EXIT_DONE)
        code = print_opens(c);
    return code == EXIT_DONE ? hash_plan(c) : code;
}

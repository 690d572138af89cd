/* SPDX-License-Identifier: MIT */
/* Schemas, and sources with several fields. */
#define _GNU_SOURCE
#include "fields.h"
#include "files.h"

Test(schema, of_a_source_without_one)
{
    struct lade_source *source = open_source("synthetic:count=10,shape=2x3,classes=4");
    const struct lade_schema *schema = lade_source_schema(source);
    uint8_t sample[6], again[6];
    int64_t label, read = -5;
    uint64_t length;

    cr_assert(schema->fields == 2 && schema->label == 1 && schema->key == LADE_NO_FIELD);
    cr_assert_null(lade_source_info(source)->schema);
    cr_assert_str_eq(schema->field[0].name, "sample");
    cr_assert_str_eq(schema->field[1].name, "label");
    cr_assert(schema->field[0].dims == 2 && schema->field[0].dim[1] == 3 && schema->field[1].dtype == LADE_I64);
    cr_assert(lade_schema_find(schema, "label") == 1 && lade_schema_find(schema, "labels") == LADE_NO_FIELD);
    cr_assert_eq(lade_source_read(source, 7, sample, &label, NULL), LADE_OK);
    const struct lade_view both[] = {{again, 0, 1}, {&read, 0, 1}}, only_label[] = {{NULL, 0, 0}, {&read, 0, 1}};
    cr_assert_eq(lade_source_read_fields(source, 7, both, NULL), LADE_OK);
    cr_assert(read == label && !memcmp(sample, again, sizeof sample));
    read = -5;
    cr_assert_eq(lade_source_read_fields(source, 7, only_label, NULL), LADE_OK);
    cr_assert_eq(read, label);
    cr_assert(lade_source_length(source, 9, 0, &length, NULL) == LADE_OK && length == 1);
    cr_assert_eq(lade_source_length(source, 10, 0, &length, NULL), LADE_INVALID);
    cr_assert_eq(lade_source_length(source, 0, 2, &length, NULL), LADE_INVALID);
    cr_assert_eq(lade_source_read_fields(source, 10, both, NULL), LADE_INVALID);
    const struct lade_view two_steps[] = {{again, 0, 2}, {NULL, 0, 0}};
    cr_assert_eq(lade_source_read_fields(source, 0, two_steps, NULL), LADE_INVALID);
    lade_source_close(source);
    /* More dimensions than a field has: the last ones become one. */
    source = open_source("synthetic:count=1,shape=1x2x1x2x1x2x1x3x5");
    schema = lade_source_schema(source);
    cr_assert(schema->field[0].dims == 8 && schema->field[0].dim[7] == 15 && schema->field[0].dim[5] == 2);
    cr_assert_eq(lade_field_bytes(&schema->field[0]), lade_source_info(source)->bytes);
    lade_source_close(source);
}

/* Opens a custom source with this schema and expects that it is refused, for this reason. */
static void refused_as(int status, const struct lade_schema *schema, const struct lade_source_ops *ops, uint64_t count,
                       const char *words)
{
    const struct lade_source_info info = {.kind = "custom", .count = count, .schema = schema};
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open_custom(&source, ops, NULL, &info, NULL, &error), status, "%s", words);
    cr_assert(strstr(error.text, words) != NULL, "'%s' has no '%s'", error.text, words);
}

static void refused(const struct lade_schema *schema, const struct lade_source_ops *ops, uint64_t count,
                    const char *words)
{
    refused_as(LADE_INVALID, schema, ops, count, words);
}

Test(schema, is_checked)
{
    const struct lade_source_ops ops = {.length = length_of_sequence, .read_fields = read_sequence};
    const struct lade_source_ops no_length = {.read_fields = read_sequence}, no_read = {.length = length_of_sequence};
    char long_name[LADE_FIELD_NAME_MAX + 2];
    struct lade_field field[LADE_FIELDS_MAX + 1] = {{.name = "a", .dtype = LADE_I32}, {.name = "b", .dtype = LADE_F32}};
    struct lade_schema schema = {2, field, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};

    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    schema.fields = 0;
    refused(&schema, &ops, 1, "1 to 16 fields");
    schema.fields = LADE_FIELDS_MAX + 1;
    refused(&schema, &ops, 1, "1 to 16 fields");
    schema.fields = 2;
    schema.field = NULL;
    refused(&schema, &ops, 1, "1 to 16 fields");
    schema.field = field;
    refused(&schema, &ops, LADE_ENDLESS, "endless");
    refused(&schema, &ops, 0, "no samples");
    refused(&schema, &no_read, 1, "read_fields");
    schema.label = 2;
    refused(&schema, &ops, 1, "not one of the 2 fields");
    schema.label = 1;
    refused(&schema, &ops, 1, "field 'b' is the label");
    schema.label = 0;
    field[0].dims = 1;
    field[0].dim[0] = 2;
    refused(&schema, &ops, 1, "field 'a' is the label");
    field[0].dims = 0;
    field[0].ragged_max = 2;
    refused(&schema, &ops, 1, "field 'a' is the label");
    schema.label = -2;
    refused(&schema, &ops, 1, "not one of the 2 fields");
    schema.label = LADE_NO_FIELD;
    refused(&schema, &no_length, 1, "length");
    schema.key = 7;
    refused(&schema, &ops, 1, "not one of the 2 fields");
    schema.key = 1;
    field[1].dims = 1;
    field[1].dim[0] = LADE_KEY_MAX / sizeof(float) + 1;
    refused_as(LADE_LIMITED, &schema, &ops, 1, "field 'b' is a key or group");
    schema.key = LADE_NO_FIELD;
    schema.group = 1;
    field[1].dim[0] = LADE_KEY_MAX / 8;
    field[1].ragged_max = 3;
    refused_as(LADE_LIMITED, &schema, &ops, 1, "field 'b' is a key or group");
    schema.group = LADE_NO_FIELD;
    field[1] = (struct lade_field){.name = "b", .dtype = LADE_F32};
    field[1].name = "a";
    refused(&schema, &ops, 1, "two fields have the name 'a'");
    field[1].name = "";
    refused(&schema, &ops, 1, "field 1 has no name");
    field[1].name = NULL;
    refused(&schema, &ops, 1, "field 1 has no name");
    field[1].name = long_name;
    refused(&schema, &ops, 1, "above 63 bytes");
    field[1].name = "b";
    field[1].dtype = (enum lade_dtype)99;
    refused(&schema, &ops, 1, "unknown element type");
    field[1].dtype = LADE_F32;
    field[1].dims = LADE_FIELD_DIMS_MAX + 1;
    refused(&schema, &ops, 1, "more than 8 dimensions");
    field[1].dims = 1;
    refused(&schema, &ops, 1, "a dimension of zero");
    field[1].dim[0] = UINT64_C(1) << 62;
    refused(&schema, &ops, 1, "2^63 bytes");
    field[1].dim[0] = 4;
    field[1].ragged_max = UINT64_MAX;
    refused(&schema, &ops, 1, "2^63 bytes");
}

Test(arrays, fixed_and_ragged_fields)
{
    struct lade_source *source = open_many();
    const struct lade_source_info *info = lade_source_info(source);
    const struct lade_schema *schema = lade_source_schema(source);

    cr_assert(info->count == MANY_COUNT && info->classes == 5 && info->bytes == 6 && info->shape.dims == 2);
    cr_assert(schema == info->schema && schema->fields == 5 && schema->label == LABEL);
    cr_assert_eq(schema->field[TOKEN].ragged_max, TOKENS - 1);
    cr_assert_eq(schema->field[POINT].ragged_max, POINTS - 1);
    for (uint64_t i = 0; i < MANY_COUNT; i++) {
        uint8_t image[6];
        int32_t tokens[TOKENS];
        float point[2];
        uint64_t length;
        int64_t label, alone;
        cr_assert_eq(lade_source_length(source, i, TOKEN, &length, NULL), LADE_OK);
        cr_assert_eq(length, tokens_of(i));
        cr_assert_eq(lade_source_read(source, i, image, &label, NULL), LADE_OK);
        cr_assert_eq(lade_source_label(source, i, &alone, NULL), LADE_OK);
        cr_assert(label == (int64_t)(i % 5) && alone == label && !memcmp(image, many.image[i], sizeof image));
        struct lade_view views[5] = {[TOKEN] = {tokens, length / 2, length - length / 2}, [POINT] = {point, 0, 0}};
        if (points_of(i) > 0)
            views[POINT] = (struct lade_view){point, points_of(i) - 1, 1};
        cr_assert_eq(lade_source_read_fields(source, i, views, NULL), LADE_OK);
        for (uint64_t k = length / 2; k < length; k++)
            cr_assert_eq(tokens[k - length / 2], token(i, k));
        cr_assert(points_of(i) == 0 || (point[0] == (float)token(i, points_of(i) - 1) && point[1] == -1));
        /* Parts that do not exist, also where the sum of both numbers overflows. */
        views[TOKEN].length = length + 1;
        cr_assert_eq(lade_source_read_fields(source, i, views, NULL), LADE_INVALID);
        views[TOKEN] = (struct lade_view){tokens, UINT64_MAX, 2};
        cr_assert_eq(lade_source_read_fields(source, i, views, NULL), LADE_INVALID);
    }
    lade_source_close(source);
}

Test(arrays, names_are_copied)
{
    static const int32_t value[3] = {1, 0, 2};
    char name[] = "value";
    const struct lade_source_column column = {.field = {.name = name, .dtype = LADE_I32}, .values = value};
    const struct lade_source_arrays arrays = {.count = 3, .column = &column, .columns = 1, .label = "value"};
    struct lade_source *source;

    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    memset(name, 'x', sizeof name - 1);
    cr_assert_str_eq(lade_source_schema(source)->field[0].name, "value");
    cr_assert_eq(lade_source_info(source)->classes, 3);
    lade_source_close(source);
}

static void refused_arrays(const struct lade_source_arrays *arrays, int status, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open_arrays(&source, arrays, &error), status, "%s: %s", words, error.text);
    cr_assert(strstr(error.text, words) != NULL, "'%s' has no '%s'", error.text, words);
    cr_assert_null(source);
}

Test(arrays, hostile)
{
    static int32_t value[4] = {1, 2, 3, 4}, offsets[3] = {0, 3, 4};
    char long_name[LADE_FIELD_NAME_MAX + 2];
    struct lade_source_column column[2] = {{.field = {.name = "r", .dtype = LADE_I32},
                                            .values = value,
                                            .offsets = offsets,
                                            .offset_dtype = LADE_I32,
                                            .steps = 4},
                                           {.field = {.name = "f", .dtype = LADE_I32}, .values = value}};
    struct lade_source_arrays arrays = {.count = 2, .column = column, .columns = 2};
    struct lade_source *source;
    uint64_t length;
    int32_t to[4];

    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    /* Offsets that change while the source is open. */
    const struct lade_view views[2] = {{to, 0, 3}, {NULL, 0, 0}};
    offsets[1] = 2;
    cr_assert_eq(lade_source_read_fields(source, 0, views, NULL), LADE_INVALID);
    offsets[1] = -1;
    cr_assert_eq(lade_source_length(source, 0, 0, &length, NULL), LADE_DAMAGED);
    offsets[1] = 5;
    cr_assert_eq(lade_source_read_fields(source, 0, views, NULL), LADE_DAMAGED);
    lade_source_close(source);
    refused_arrays(&arrays, LADE_DAMAGED, "offsets 0 and 1 of field 'r'");
    offsets[1] = 3;
    offsets[2] = 2;
    refused_arrays(&arrays, LADE_DAMAGED, "offsets 1 and 2");
    offsets[0] = -1;
    refused_arrays(&arrays, LADE_DAMAGED, "offsets 0 and 1");
    offsets[0] = 0;
    offsets[2] = 4;
    column[0].offset_dtype = LADE_U32;
    refused_arrays(&arrays, LADE_INVALID, "i32 or i64");
    column[0].offset_dtype = LADE_I32;
    column[0].steps = UINT64_MAX / 2;
    refused_arrays(&arrays, LADE_INVALID, "2^63 bytes");
    column[0].steps = 4;
    column[1].values = NULL;
    refused_arrays(&arrays, LADE_INVALID, "field 1 has no values");
    column[1].values = value;
    column[1].field.name = "r";
    refused_arrays(&arrays, LADE_INVALID, "two fields");
    column[1].field.name = NULL;
    refused_arrays(&arrays, LADE_INVALID, "no name");
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    column[1].field.name = long_name;
    refused_arrays(&arrays, LADE_INVALID, "more than 63 bytes");
    column[1].field.name = "f";
    arrays.label = "r";
    refused_arrays(&arrays, LADE_INVALID, "is the label");
    arrays.label = "g";
    refused_arrays(&arrays, LADE_INVALID, "names no column");
    arrays.label = "f";
    arrays.classes = LADE_CLASSES_MAX + 1;
    refused_arrays(&arrays, LADE_INVALID, "classes");
    arrays.classes = 0;
    value[1] = -2;
    refused_arrays(&arrays, LADE_DAMAGED, "the label of sample 1");
    value[1] = 2;
    arrays.count = 0;
    refused_arrays(&arrays, LADE_INVALID, "no samples");
    arrays.count = 2;
    arrays.columns = LADE_FIELDS_MAX + 1;
    refused_arrays(&arrays, LADE_INVALID, "1 to 16 columns");
}

/* A label that is outside the classes is reported for each way of reading it. */
Test(arrays, wrong_labels)
{
    static const uint64_t value[3] = {1, 4, UINT64_MAX};
    const struct lade_source_column column = {.field = {.name = "v", .dtype = LADE_U64}, .values = value};
    const struct lade_source_arrays arrays = {.count = 3, .column = &column, .columns = 1, .label = "v", .classes = 4};
    struct lade_source *source;
    uint64_t to;
    int64_t label;
    const struct lade_view view = {&to, 0, 1};

    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    cr_assert_eq(lade_source_read_fields(source, 0, &view, NULL), LADE_OK);
    cr_assert_eq(to, 1);
    for (uint64_t i = 1; i < 3; i++) {
        cr_assert_eq(lade_source_read_fields(source, i, &view, NULL), LADE_DAMAGED);
        cr_assert_eq(lade_source_read(source, i, &to, &label, NULL), LADE_DAMAGED);
        cr_assert_eq(lade_source_label(source, i, &label, NULL), LADE_DAMAGED);
    }
    lade_source_close(source);
}

static int long_length(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    (void)self, (void)i, (void)field, (void)error;
    *length = LADE_KEY_MAX;
    return LADE_OK;
}

static int count_read(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    (void)error;
    ++*(unsigned *)self;
    cr_assert(views->from == 0 && views->length == LADE_KEY_MAX);
    memset(views->data, (int)i, LADE_KEY_MAX);
    return LADE_OK;
}

/* A key is read in one piece: a read may decode the whole record. */
Test(custom, long_keys_are_read_once)
{
    const struct lade_field field = {.name = "text", .dtype = LADE_U8, .ragged_max = LADE_KEY_MAX};
    const struct lade_schema schema = {1, &field, LADE_NO_FIELD, 0, LADE_NO_FIELD};
    const struct lade_source_ops ops = {.length = long_length, .read_fields = count_read};
    const struct lade_source_info info = {.kind = "custom", .count = 2, .schema = &schema};
    struct lade_source *source;
    unsigned reads = 0;

    cr_assert_eq(lade_source_open_custom(&source, &ops, &reads, &info, NULL, NULL), LADE_OK);
    cr_assert_neq(lade_source_key(source, 0), lade_source_key(source, 1));
    cr_assert_eq(reads, 2);
    lade_source_close(source);
}

/* Keys and groups: integers by their value, others by their bytes. */
Test(arrays, keys_and_groups)
{
    static const uint64_t key[4] = {7, UINT64_MAX, 0, 5};
    static char text[2000];
    static const int32_t offsets[5] = {0, 0, 900, 1800, 1999};
    const struct lade_source_column column[] = {{.field = {.name = "k", .dtype = LADE_U64}, .values = key},
                                                {.field = {.name = "g", .dtype = LADE_U8},
                                                 .values = text,
                                                 .offsets = offsets,
                                                 .offset_dtype = LADE_I32,
                                                 .steps = 2000}};
    const struct lade_source_arrays arrays = {.count = 4, .column = column, .columns = 2, .key = "k", .group = "g"};
    struct lade_source *source;

    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    for (uint64_t i = 0; i < 4; i++)
        cr_assert_eq(lade_source_key(source, i), key[i]);
    cr_assert_eq(lade_source_group(source, 1), lade_source_group(source, 2), "equal texts of 900 bytes");
    cr_assert_neq(lade_source_group(source, 1), lade_source_group(source, 3));
    cr_assert_neq(lade_source_group(source, 0), lade_source_group(source, 3));
    text[900 + 899] = 1;
    cr_assert_neq(lade_source_group(source, 1), lade_source_group(source, 2), "the last byte counts");
    cr_assert_eq(lade_source_group(source, 9), 9);
    lade_source_close(source);
    source = open_source("synthetic:count=3");
    cr_assert(lade_source_group(source, 2) == 2 && lade_source_key(source, 2) == 2);
    lade_source_close(source);
}

static uint64_t too_long(uint64_t i)
{
    return i == 1 ? 6 : 5;
}

Test(custom, ragged_fields)
{
    struct sequences s = {too_long, NULL};
    struct lade_source *source = open_sequences(&s, 3, 5);
    struct lade_error error;
    int32_t to[8];
    int64_t label;
    uint64_t length;

    cr_assert_eq(lade_source_length(source, 0, 0, &length, NULL), LADE_OK);
    cr_assert_eq(lade_source_length(source, 1, 0, &length, &error), LADE_DAMAGED);
    cr_assert(strstr(error.text, "field 'tokens' of sample 1 has 6 steps; the schema allows 5"), "%s", error.text);
    cr_assert_eq(lade_source_read(source, 0, to, &label, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "'tokens' is ragged"), "%s", error.text);
    cr_assert_eq(lade_source_label(source, 0, &label, NULL), LADE_OK);
    cr_assert(label == LADE_NO_LABEL && lade_source_info(source)->bytes == 0);
    const struct lade_view view = {to, 1, 4};
    cr_assert_eq(lade_source_read_fields(source, 2, &view, NULL), LADE_OK);
    cr_assert_eq(to[3], token(2, 4));
    const struct lade_view endless = {to, 1, UINT64_MAX}; /* the sum is 0 */
    cr_assert_eq(lade_source_read_fields(source, 2, &endless, NULL), LADE_INVALID);
    lade_source_close(source);
}

/* Writes an npy file of version 1.0; = is the byte order of this machine. */
static void put_npy(const char *name, const char *descr, const char *shape, const void *bytes, size_t size)
{
    const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    char file[1024];
    int length = snprintf(file + 10, sizeof file - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s)}\n",
                          descr[0] == '=' ? native : descr[0], descr + 1, shape);

    memcpy(file, "\x93NUMPY\x01", 8);
    file[8] = (char)length;
    file[9] = 0;
    memcpy(file + 10 + length, bytes, size);
    put_file(name, file, 10 + (size_t)length + size);
}

static struct lade_source *open_good(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

static void refused_text(const char *text, int status, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), status, "%s: %s", text, error.text);
    cr_assert(strstr(error.text, words) != NULL, "%s: '%s' has no '%s'", text, error.text, words);
}

Test(npy, named_fields, .init = make_folder, .fini = remove_folder)
{
    static const float target[3] = {0.5f, -1, 2};
    static const uint8_t big[6] = {0, 1, 0, 2, 1, 0}, grid[6] = {1, 2, 3, 4, 5, 6};
    static const int64_t label[3] = {2, 0, 1}, offsets[4] = {0, 0, 2, 3}, wrong[4] = {0, 3, 2, 3};
    struct lade_source *source;

    put_npy("target", "=f4", "3,", target, sizeof target);
    put_npy("big", ">i2", "3,", big, sizeof big);
    put_npy("grid", "|u1", "3, 2", grid, sizeof grid);
    put_npy("label", "=i8", "3,", label, sizeof label);
    put_npy("offsets", "=i8", "4,", offsets, sizeof offsets);
    put_npy("wrong", "=i8", "4,", wrong, sizeof wrong);
    put_npy("two", "=i8", "2,", label, 16);
    source = open_good("npy:x=@/grid,y=@/target,label=@/label,b=@/big,words=@/big,words.offsets=@/offsets");
    const struct lade_schema *schema = lade_source_schema(source);
    cr_assert(schema->fields == 5 && schema->label == 2 && lade_source_info(source)->classes == 3);
    cr_assert(schema->field[4].ragged_max == 2 && schema->field[0].dims == 1 && schema->field[1].dtype == LADE_F32);
    cr_assert_str_eq(schema->field[4].name, "words");
    uint8_t x[2];
    float y;
    int16_t b, words[2];
    const struct lade_view views[5] = {{x, 0, 1}, {&y, 0, 1}, {NULL, 0, 0}, {&b, 0, 1}, {words, 0, 2}};
    cr_assert_eq(lade_source_read_fields(source, 1, views, NULL), LADE_OK);
    cr_assert(x[0] == 3 && x[1] == 4 && y == -1 && b == 2 && words[0] == 1 && words[1] == 2);
    lade_source_close(source);
    source = open_good("npy:x=@/grid,label=@/grid"); /* more than one integer: a field like any other */
    cr_assert_eq(lade_source_schema(source)->label, LADE_NO_FIELD);
    lade_source_close(source);
    refused_text("npy:x=@/grid,y=@/two", LADE_DAMAGED, "2 samples of field 'y', 3 of field 'x'");
    refused_text("npy:x=@/grid,x=@/grid", LADE_INVALID, "two fields have the name 'x'");
    refused_text("npy:x=@/grid,w.offsets=@/offsets", LADE_INVALID, "does not take 'w.offsets=");
    refused_text("npy:x=@/big,x.offsets=@/wrong", LADE_DAMAGED, "offsets 1 and 2");
    refused_text("npy:x=@/big,x.offsets=@/grid", LADE_INVALID, "offsets are i32 or i64");
    refused_text("npy:x=@/none", LADE_IO, "none");
    refused_text("npy:x=", LADE_INVALID, "the name of a file is missing");
}

/* A file whose name looks like NAME=FILE is opened as a file, where it exists. */
Test(npy, a_file_with_an_equals_sign, .init = make_folder, .fini = remove_folder)
{
    static const int64_t value[3] = {2, 0, 1};
    struct lade_source *source;
    char before[4096];

    put_npy("day=1.npy", "=i8", "3,", value, sizeof value);
    put_npy("1.npy", "=i8", "2,", value, 16);
    cr_assert(getcwd(before, sizeof before) != NULL);
    cr_assert_eq(chdir(in_folder("@")), 0);
    source = open_good("npy:day=1.npy");
    cr_assert(lade_source_info(source)->count == 3 && !lade_source_info(source)->schema);
    lade_source_close(source);
    source = open_good("npy:day=1.npy,labels=day=1.npy");
    cr_assert(lade_source_info(source)->count == 3 && lade_source_info(source)->classes == 3);
    lade_source_close(source);
    source = open_good("npy:night=1.npy");
    cr_assert_eq(lade_source_info(source)->count, 2);
    cr_assert_str_eq(lade_source_schema(source)->field[0].name, "night");
    lade_source_close(source);
    cr_assert_eq(chdir(before), 0);
}

/* As many ragged fields as a schema has. */
Test(npy, sixteen_ragged_fields, .init = make_folder, .fini = remove_folder)
{
    static const int64_t offsets[4] = {0, 0, 2, 3};
    char text[4096] = "npy:";

    put_npy("o", "=i8", "4,", offsets, sizeof offsets);
    put_npy("v", "=i8", "3,", offsets, 24);
    for (int f = 0; f < LADE_FIELDS_MAX; f++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "%sf%d=@/v,f%d.offsets=@/o", f ? "," : "", f, f);
    }
    struct lade_source *source = open_good(text);
    cr_assert_eq(lade_source_schema(source)->fields, LADE_FIELDS_MAX);
    cr_assert_eq(lade_source_schema(source)->field[15].ragged_max, 2);
    lade_source_close(source);
}

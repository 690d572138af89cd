/* SPDX-License-Identifier: MIT */
/* TFRecord and tf.train.Example, written byte by byte. */
#define _GNU_SOURCE
#include "source_members.h"

#include "members.h"

static struct blob file, features;

static void setup(void)
{
    make_folder();
    file.size = features.size = 0;
}

static void numbers(void)
{
    add_floats(&features, "x", (float[]){1, 2.5f}, 2, true);
    add_integers(&features, "label", (int64_t[]){2}, 1, true);
    add_example(&file, &features);
    add_integers(&features, "label", (int64_t[]){0}, 1, false);
    add_floats(&features, "x", (float[]){-3, 4}, 2, false);
    add_example(&file, &features);
    put_file("a", file.data, file.size);
}

Test(tfrecord, numbers, .init = setup, .fini = remove_folder)
{
    float x[2];
    int64_t label;

    numbers();
    struct lade_source *source = open_file("tfrecord:@/a");
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert_eq(info->count, 2);
    cr_assert_eq(info->classes, 3);
    cr_assert_eq(info->index_bytes, 16);
    check_field(source, 0, "x", LADE_F32, 1, 2, 0);
    check_field(source, 1, "label", LADE_I64, 0, 0, 0);
    cr_assert_eq(lade_source_schema(source)->label, 1);
    has(source, 0, 0, (float[]){1, 2.5f}, 8);
    has(source, 1, 1, (int64_t[]){0}, 8);
    /* One field and the label. */
    cr_assert_eq(lade_source_read(source, 1, x, &label, NULL), LADE_OK);
    cr_assert(x[0] == -3 && x[1] == 4 && label == 0);
    cr_assert_eq(lade_source_label(source, 0, &label, NULL), LADE_OK);
    cr_assert_eq(label, 2);
    lade_source_close(source);
}

Test(tfrecord, ragged_and_missing, .init = setup, .fini = remove_folder)
{
    int64_t part[2];
    struct lade_error error;

    add_integers(&features, "ids", (int64_t[]){7, -8, INT64_MIN, 300}, 4, true);
    add_bytes(&features, "text", "abc", 3);
    add_example(&file, &features);
    add_bytes(&features, "text", "", 0);
    add_example(&file, &features);
    put_file("a", file.data, file.size);
    struct lade_source *source = open_file("tfrecord:@/a");
    check_field(source, 0, "ids", LADE_I64, 0, 0, 4);
    check_field(source, 1, "text", LADE_U8, 0, 0, 3);
    cr_assert_eq(lade_source_info(source)->index_bytes, 2 * (8 + 4 + 4));
    cr_assert_eq(steps_of(source, 0, 0), 4);
    cr_assert_eq(steps_of(source, 1, 0), 0);
    cr_assert_eq(steps_of(source, 1, 1), 0);
    has(source, 0, 0, (int64_t[]){7, -8, INT64_MIN, 300}, 32);
    has(source, 0, 1, "abc", 3);
    has(source, 1, 0, "", 0);
    cr_assert_eq(read_part(source, 0, 0, 1, 2, part, &error), LADE_OK);
    cr_assert(part[0] == -8 && part[1] == INT64_MIN);
    cr_assert_eq(read_part(source, 0, 0, 3, 2, part, &error), LADE_INVALID);
    lade_source_close(source);
}

Test(tfrecord, declared_fields, .init = setup, .fini = remove_folder)
{
    struct lade_source *source;
    struct lade_error error;
    uint8_t to[8];

    for (uint8_t i = 0; i < 3; i++) {
        add_bytes(&features, "pixels", (uint8_t[]){i, 1, 2, 3, 4, 5, 6, 7}, 8);
        add_integers(&features, "label", (int64_t[]){i}, 1, true);
        add_integers(&features, "other", (int64_t[]){i, i}, 2, true);
        add_example(&file, &features);
    }
    put_file("a-00", file.data, file.size);
    put_file("a-01", file.data, file.size);
    source = open_file("tfrecord:@/a-{00..01},field=label:i64:1,field=pixels:u16:2x2,label=label,classes=5");
    cr_assert_eq(lade_source_info(source)->count, 6);
    cr_assert_eq(lade_source_info(source)->classes, 5);
    cr_assert_eq(lade_source_info(source)->index_bytes, 48, "nothing for fixed fields");
    check_field(source, 0, "label", LADE_I64, 1, 1, 0);
    check_field(source, 1, "pixels", LADE_U16, 2, 2, 0);
    has(source, 4, 0, (int64_t[]){1}, 8);
    lade_source_close(source);
    source = open_file("tfrecord:@/a-00,field=pixels:u8:*x4");
    check_field(source, 0, "pixels", LADE_U8, 1, 4, 2);
    cr_assert_eq(steps_of(source, 1, 0), 2);
    has(source, 1, 0, (uint8_t[]){1, 1, 2, 3, 4, 5, 6, 7}, 8);
    lade_source_close(source);
    refuses("tfrecord:@/a-00,field=nothing", LADE_DAMAGED, 0, "no sample has a field 'nothing'");
    source = open_file("tfrecord:@/a-00,field=pixels:u8:7");
    cr_assert_eq(read_part(source, 0, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "has 8 bytes, not 7"), "%s", error.text);
    lade_source_close(source);
    refuses("tfrecord:@/a-00,label=other", LADE_INVALID, LADE_NO_OFFSET, "is not one integer");
    refuses("tfrecord:@/a-00,label=none", LADE_INVALID, LADE_NO_OFFSET, "there is no field 'none'");
    refuses("tfrecord:@/a-00,field=a:q8", LADE_INVALID, LADE_NO_OFFSET, "not 'q8'");
    refuses("tfrecord:@/a-00,field=a,field=a", LADE_INVALID, LADE_NO_OFFSET, "declared twice");
    refuses("tfrecord:@/a-{00..02}", LADE_IO, LADE_NO_OFFSET, "a-02: cannot be opened");
}

Test(tfrecord, checksums, .init = setup, .fini = remove_folder)
{
    uint8_t to[8];
    int64_t label;
    float x[2];
    struct lade_error error = {.text = "no text"};

    numbers();
    const uint64_t length = lade_read_number(file.data, 8);
    uint8_t *one = memmem(file.data, file.size, (uint8_t[]){0, 0, 0x80, 0x3f}, 4);
    cr_assert(one && (uint64_t)(one - file.data) < length);
    one[2] = 0; /* 1 becomes 0.5 */
    put_file("a", file.data, file.size);
    struct lade_source *source = open_file("tfrecord:@/a,field=label:i64:1,field=x:f32:2");
    cr_assert_eq(read_part(source, 0, 1, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 12 + length);
    cr_assert_not_null(strstr(error.text, "the checksum of a record's bytes is wrong"), "%s", error.text);
    cr_assert_eq(read_part(source, 1, 1, 0, 1, to, &error), LADE_OK, "the others can be read");
    lade_source_close(source);
    source = open_file("tfrecord:@/a,field=x:f32:2,check=no");
    cr_assert_eq(read_part(source, 0, 0, 0, 1, x, &error), LADE_OK, "%s", error.text);
    cr_assert(x[0] == 0.5f && x[1] == 2.5f);
    lade_source_close(source);
    one[2] = 0x80;
    /* A label, which is read on its own, and when the classes are counted. */
    file.data[12 + length - 1] ^= 16;
    put_file("a", file.data, file.size);
    source = open_file("tfrecord:@/a");
    cr_assert_eq(lade_source_info(source)->classes, 1, "the damaged sample does not count");
    cr_assert_eq(lade_source_label(source, 0, &label, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 12 + length);
    cr_assert_eq(lade_source_label(source, 1, &label, &error), LADE_OK);
    lade_source_close(source);
    source = open_file("tfrecord:@/a,check=no");
    cr_assert_eq(lade_source_info(source)->classes, 19);
    cr_assert_eq(lade_source_label(source, 0, &label, &error), LADE_OK);
    cr_assert_eq(label, 18);
    lade_source_close(source);
    file.data[12 + length - 1] ^= 16;
    /* A name, when fields are found, and a length, when they are measured. */
    uint8_t *name = memmem(file.data, file.size, "label", 5);
    name[0] = 'L';
    put_file("a", file.data, file.size);
    source = open_file("tfrecord:@/a");
    cr_assert_eq(lade_source_schema(source)->fields, 2);
    check_field(source, 1, "label", LADE_I64, 0, 0, 0);
    lade_source_close(source);
    name[0] = 'l';
    file.data[9] ^= 1;
    put_file("a", file.data, file.size);
    refuses("tfrecord:@/a", LADE_DAMAGED, 8, "is not TFRecord, or damaged");
    file.data[9] ^= 1;
    file.data[16 + length + 8] ^= 1;
    put_file("a", file.data, file.size);
    refuses("tfrecord:@/a", LADE_DAMAGED, 16 + length + 8, "the checksum of a record's length is wrong");
}

Test(tfrecord, what_is_not_read, .init = setup, .fini = remove_folder)
{
    static struct blob list, value, example;

    add(&value, "a", 1);
    add_part(&list, 1, &value);
    add_part(&list, 1, &value);
    add_feature(&features, "names", 1, &list);
    add_example(&file, &features);
    put_file("a", file.data, file.size);
    refuses("tfrecord:@/a", LADE_DAMAGED, 32, "a list of several byte strings is not read");
    file.size = 0;
    add_part(&example, 2, &value);
    add_record(&file, &example);
    put_file("a", file.data, file.size);
    refuses("tfrecord:@/a", LADE_DAMAGED, 14, "SequenceExample");
    put_file("a", "no TFRecord at all", 18);
    refuses("tfrecord:@/a", LADE_DAMAGED, 8, "is not TFRecord");
    put_file("a", "short", 5);
    refuses("tfrecord:@/a", LADE_DAMAGED, 0, "ends inside a record");
}

static void add_strings(const char *name, unsigned count)
{
    static struct blob list, value;

    list.size = value.size = 0;
    add(&value, "a", 1);
    for (unsigned i = 0; i < count; i++)
        add_part(&list, 1, &value);
    add_feature(&features, name, 1, &list);
}

/* A feature with lists of bytes and of integers. */
static void add_two_lists(const char *name)
{
    static struct blob text, list, feature, entry;

    text.size = list.size = feature.size = entry.size = 0;
    add(&text, name, strlen(name));
    add_part(&feature, 1, &list);
    add_part(&feature, 3, &list);
    add_part(&entry, 1, &text);
    add_part(&entry, 2, &feature);
    add_part(&features, 1, &entry);
}

/* Features that cannot be read matter only if they are wanted. */
Test(tfrecord, unreadable_features, .init = setup, .fini = remove_folder)
{
    struct lade_error error;
    uint8_t to[8];

    for (int64_t i = 0; i < 3; i++) {
        add_strings("some", i == 0 ? 1 : 2);
        add_strings("several", i == 1 ? 1 : 2);
        add_two_lists("two");
        add_integers(&features, "label", &i, 1, true);
        add_example(&file, &features);
    }
    put_file("a", file.data, file.size);
    struct lade_source *source = open_file("tfrecord:@/a");
    cr_assert_eq(lade_source_schema(source)->fields, 1);
    check_field(source, 0, "label", LADE_I64, 0, 0, 0);
    has(source, 2, 0, (int64_t[]){2}, 8);
    lade_source_close(source);
    source = open_file("tfrecord:@/a,field=label");
    cr_assert_eq(lade_source_info(source)->classes, 3);
    lade_source_close(source);
    source = open_file("tfrecord:@/a,field=some");
    has(source, 0, 0, "a", 1);
    cr_assert_eq(read_part(source, 1, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "a list of several byte strings is not read"), "%s", error.text);
    lade_source_close(source);
    refuses("tfrecord:@/a,field=two", LADE_DAMAGED, 63, "a feature has two lists");
}

/* A length that changes after it was checked. */
Test(tfrecord, changes, .init = setup, .fini = remove_folder)
{
    const struct lade_members_config config = {.size = {.pixels_max = 100}};
    struct lade_bytes *bytes = malloc(sizeof *bytes);
    struct lade_source *source;
    struct lade_error error;
    uint8_t to[8];

    numbers();
    cr_assert_not_null(bytes);
    *bytes = (struct lade_bytes){file.data, file.size, "changes"};
    cr_assert_eq(lade_members_open(&source, &lade_tfrecord, &config, bytes, 1, false, NULL, &error), LADE_OK);
    memset(file.data, 0xff, 8);
    cr_assert_eq(read_part(source, 0, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "has changed"), "%s", error.text);
    lade_source_close(source);
}

/* Every prefix, in a block of exactly its size, so that a sanitizer detects the first byte read beyond it. */
Test(tfrecord, cut_anywhere, .init = setup, .fini = remove_folder)
{
    unsigned opened = 0, samples = 0;

    numbers();
    for (size_t size = 1; size <= file.size; size++) {
        const struct lade_members_config config = {.size = {.pixels_max = 100}};
        struct lade_bytes *bytes = malloc(sizeof *bytes);
        uint8_t *copy = malloc(size);
        struct lade_source *source;
        struct lade_error error = {.status = 0};
        cr_assert(bytes && copy);
        memcpy(copy, file.data, size);
        *bytes = (struct lade_bytes){copy, size, "cut"};
        int status = lade_members_open(&source, &lade_tfrecord, &config, bytes, 1, false, NULL, &error);
        opened += status == LADE_OK;
        cr_assert(status == LADE_OK || (status == LADE_DAMAGED && error.offset <= size), "%s", error.text);
        samples += status == LADE_OK ? read_all(source) : 0;
        lade_source_close(source);
        free(copy);
    }
    cr_assert_eq(opened, 2, "after each whole record");
    cr_assert_eq(samples, 1 + 2);
}

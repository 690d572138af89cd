/* SPDX-License-Identifier: MIT */
/* tar as WebDataset writes it, byte by byte. */
#define _GNU_SOURCE
#include "source_members.h"

#include "members.h"

#include <locale.h>

static struct blob file;

static void setup(void)
{
    make_folder();
    file.size = 0;
}

Test(tar, samples, .init = setup, .fini = remove_folder)
{
    char name[64];

    add_member(&file, "d/", '5', "", 0);
    add_file(&file, "d/one.txt", "hello");
    add_file(&file, "d/one.CLS", " 3\n");
    add_file(&file, "README", "no dot");
    add_file(&file, "d/.hidden.txt", "x");
    add_file(&file, "__meta__/x.txt", "x");
    add_file(&file, "d/two.cls", "0");
    add_file(&file, "d/two.txt", "hi");
    add_file(&file, "e/two.txt", "");
    add_file(&file, "e/two.cls", "1");
    add_end(&file);
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_info(source)->count, 3);
    cr_assert_eq(lade_source_info(source)->classes, 4);
    check_field(source, 0, "txt", LADE_U8, 0, 0, 5);
    check_field(source, 1, "cls", LADE_I64, 0, 0, 0);
    has(source, 0, 0, "hello", 5);
    has(source, 0, 1, (int64_t[]){3}, 8);
    has(source, 1, 0, "hi", 2);
    cr_assert_eq(steps_of(source, 2, 0), 0);
    lade_source_name(source, 1, name, sizeof name);
    cr_assert_str_eq(name, "d/two");
    cr_assert_neq(lade_source_key(source, 1), lade_source_key(source, 2));
    const uint64_t key = lade_source_key(source, 2);
    lade_source_close(source);
    /* The key is that of the name, not of the position. */
    file.size = 0;
    add_file(&file, "e/two.txt", "other");
    put_file("a.tar", file.data, file.size);
    source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_key(source, 0), key);
    lade_source_close(source);
}

/* WebDataset leaves out paths that match __[^/]*__($|/) at their start. */
Test(tar, names_for_programs, .init = setup, .fini = remove_folder)
{
    static const char *const kept[] = {"a/__b__/1.x", "a__b__/2.x", "__a/__b/3.x", "___/4.x", "__5__.x", "a/__6.x__"};
    static const char *const left[] = {"__a__/1.x", "____/2.x", "__3.x__", "__a__b__/c/4.x"};
    char name[64];

    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        add_file(&file, left[i], "");
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        add_file(&file, kept[i], "");
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_info(source)->count, sizeof kept / sizeof *kept);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        lade_source_name(source, i, name, sizeof name);
        cr_assert_eq(strncmp(name, kept[i], strlen(name)), 0, "%s, not %s", name, kept[i]);
    }
    lade_source_close(source);
}

/* Members whose names cannot be those of fields do not prevent opening the others. */
Test(tar, odd_names, .init = setup, .fini = remove_folder)
{
    char name[128] = "1.";

    memset(name + 2, 'n', 64);
    add_file(&file, name, "x");
    add_file(&file, "1.a;b", "x");
    add_file(&file, "1.a:b", "x");
    add_file(&file, "1.", "x");
    add_file(&file, "1.json", "{\"c;d\": 1}");
    put_file("a.tar", file.data, file.size);
    refuses("tar:@/a.tar", LADE_DAMAGED, LADE_NO_OFFSET, "a value has an empty name, one of more than 63 characters");
    add_file(&file, "1.txt", "text");
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_schema(source)->fields, 1);
    check_field(source, 0, "txt", LADE_U8, 1, 4, 0);
    lade_source_close(source);
    source = open_file("tar:@/a.tar,field=txt:u8:4");
    has(source, 0, 0, "text", 4);
    lade_source_close(source);
}

Test(tar, largest_number, .init = setup, .fini = remove_folder)
{
    add_file(&file, "1.txt", "text");
    put_file("a-18446744073709551614", file.data, file.size);
    put_file("a-18446744073709551615", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a-{18446744073709551614..18446744073709551615}");
    cr_assert_eq(lade_source_info(source)->count, 2);
    lade_source_close(source);
}

Test(tar, long_names, .init = setup, .fini = remove_folder)
{
    static char name[300], pax[600];
    char got[400];

    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 5, ".txt", 5);
    /* GNU's long name, a pax header, and the prefix of ustar. */
    add_member(&file, "././@LongLink", 'L', name, sizeof name);
    add_file(&file, "cut", "gnu");
    name[0] = 'p';
    snprintf(pax, sizeof pax, "%d path=%s\n", (int)sizeof name - 1 + 10, name);
    add_member(&file, "header", 'x', pax, strlen(pax));
    add_file(&file, "cut", "pax");
    add_header(&file, "base.txt", '0', 5, "some/prefix");
    add(&file, "ustar", 5);
    add(&file, pax, 507);
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_info(source)->count, 3);
    has(source, 0, 0, "gnu", 3);
    has(source, 1, 0, "pax", 3);
    lade_source_name(source, 1, got, sizeof got);
    cr_assert(got[0] == 'p' && strlen(got) == 295, "%s", got);
    lade_source_name(source, 2, got, sizeof got);
    cr_assert_str_eq(got, "some/prefix/base");
    lade_source_close(source);
}

Test(tar, npy_and_json, .init = setup, .fini = remove_folder)
{
    static const char npy[] =
        "\x93NUMPY\1\0\x34\0{'descr':'>i2','fortran_order':False,'shape':(2,2)} \1\2\3\4\5\6\7\10";
    static const char one[] = "\x93NUMPY\1\0\x34\0{'descr':'>i2','fortran_order':False,'shape':(1,2)} \1\2\3\4";

    add_member(&file, "1.npy", '0', npy, sizeof npy - 1);
    add_file(&file, "1.json", "{\"a\": 1.5, \"b\": [1, -2e3], \"c\": \"text\", \"d\": {\"a\": [true, null]}}");
    add_file(&file, "1.box.json", "[1, 2, 3]");
    add_member(&file, "2.npy", '0', one, sizeof one - 1);
    add_file(&file, "2.json", " {\"b\": [], \"a\": -0.25}");
    add_file(&file, "2.box.json", "[4,5,6]");
    add_end(&file);
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_schema(source)->fields, 4);
    check_field(source, 0, "box.json", LADE_F64, 1, 3, 0);
    check_field(source, 1, "json.a", LADE_F64, 0, 0, 0);
    check_field(source, 2, "json.b", LADE_F64, 0, 0, 2);
    check_field(source, 3, "npy", LADE_I16, 1, 2, 2);
    has(source, 1, 0, (double[]){4, 5, 6}, 24);
    has(source, 0, 1, (double[]){1.5}, 8);
    has(source, 1, 1, (double[]){-0.25}, 8);
    has(source, 0, 2, (double[]){1, -2000}, 16);
    has(source, 0, 3, (int16_t[]){0x102, 0x304, 0x506, 0x708}, 8);
    has(source, 1, 3, (int16_t[]){0x102, 0x304}, 4);
    lade_source_close(source);
}

/* "json.txt" is a member of the object "json" only if no value has that name. */
Test(tar, names_like_json, .init = setup, .fini = remove_folder)
{
    add_file(&file, "1.json", "{\"txt\": 5, \"a\": 7}");
    add_file(&file, "1.json.txt", "text");
    add_file(&file, "2.json.txt", "more");
    add_file(&file, "2.json", "{\"txt\": 6, \"a\": 8}");
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    cr_assert_eq(lade_source_schema(source)->fields, 2);
    check_field(source, 0, "json.a", LADE_F64, 0, 0, 0);
    check_field(source, 1, "json.txt", LADE_U8, 1, 4, 0);
    has(source, 1, 0, (double[]){8}, 8);
    has(source, 0, 1, "text", 4);
    has(source, 1, 1, "more", 4);
    lade_source_close(source);
    source = open_file("tar:@/a.tar,field=json.txt:u8:4,field=json.a");
    has(source, 1, 0, "more", 4);
    has(source, 1, 1, (double[]){8}, 8);
    lade_source_close(source);
}

/* A value of 2^32 bytes, which is a hole in the file: lengths have 32 bits. */
Test(tar, too_long, .init = setup, .fini = remove_folder)
{
    uint8_t to[64];
    struct lade_error error;
    const uint64_t size = UINT64_C(1) << 32;

    add_file(&file, "1.txt", "hello");
    add_file(&file, "1.cls", "1");
    add_file(&file, "2.cls", "1");
    add_header(&file, "2.txt", '0', size, "");
    put_file("a.tar", file.data, file.size);
    cr_assert_eq(truncate(in_folder("@/a.tar"), (off_t)(file.size + size)), 0);
    struct lade_source *source = open_file("tar:@/a.tar,field=txt,field=cls");
    check_field(source, 0, "txt", LADE_U8, 1, 5, 0);
    has(source, 0, 0, "hello", 5);
    lade_source_close(source);
    source = open_file("tar:@/a.tar,field=txt:u8:*,field=cls:int");
    check_field(source, 0, "txt", LADE_U8, 0, 0, 5);
    cr_assert_eq(steps_of(source, 0, 0), 5);
    cr_assert_eq(steps_of(source, 1, 0), 0);
    cr_assert_eq(read_part(source, 1, 0, 0, 0, to, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, file.size, "%s", error.text);
    lade_source_close(source);
    file.size = 0;
    add_header(&file, "2.txt", '0', size, "");
    put_file("a.tar", file.data, file.size);
    cr_assert_eq(truncate(in_folder("@/a.tar"), (off_t)(file.size + size)), 0);
    refuses("tar:@/a.tar", LADE_DAMAGED, 512, "sample 0 has 2^32 steps or more of field 'txt'");
}

Test(tar, damage, .init = setup, .fini = remove_folder)
{
    uint8_t to[64];
    struct lade_error error;

    add_file(&file, "1.cls", "1");
    add_file(&file, "2.cls", "one");
    add_file(&file, "3.cls", "1");
    add_file(&file, "3.cls", "1");
    add_file(&file, "4.txt", "without a class");
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar,field=cls");
    cr_assert_eq(read_part(source, 0, 0, 0, 1, to, &error), LADE_OK);
    cr_assert_eq(read_part(source, 1, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 1536);
    cr_assert_not_null(strstr(error.text, "is not a decimal integer"), "%s", error.text);
    cr_assert_eq(read_part(source, 2, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "have the name 'cls'"), "%s", error.text);
    cr_assert_eq(read_part(source, 3, 0, 0, 1, to, &error), LADE_DAMAGED);
    cr_assert_not_null(strstr(error.text, "sample 3 lacks field 'cls'"), "%s", error.text);
    lade_source_close(source);
    file.data[1024 + 5] ^= 1;
    put_file("a.tar", file.data, file.size);
    refuses("tar:@/a.tar", LADE_DAMAGED, 1024, "the checksum of a header is wrong");
    put_file("a.tar", file.data, 700);
    source = open_file("tar:@/a.tar"); /* padding of the last member may be missing */
    lade_source_close(source);
    put_file("a.tar", file.data, 512);
    refuses("tar:@/a.tar", LADE_DAMAGED, 0, "ends inside a member");
    memset(file.data, 'x', 512);
    put_file("a.tar", file.data, 512);
    refuses("tar:@/a.tar", LADE_DAMAGED, 0, "is not tar");
    memset(file.data, 0, 1024);
    put_file("a.tar", file.data, 1024);
    refuses("tar:@/a.tar", LADE_DAMAGED, 0, "there are no samples");
    file.size = 0;
    add_member(&file, "x", 'x', "9 size=x\n", 9);
    put_file("a.tar", file.data, file.size);
    refuses("tar:@/a.tar", LADE_DAMAGED, 512, "a size in a pax header is not a number");
}

/* Every prefix, in a block of exactly its size. */
Test(tar, cut_anywhere, .init = setup, .fini = remove_folder)
{
    unsigned samples = 0;

    add_member(&file, "././@LongLink", 'L', "long.txt", 9);
    add_file(&file, "cut", "gnu");
    add_file(&file, "2.json", "{\"a\": 1}");
    for (size_t size = 1; size <= file.size; size++) {
        const struct lade_members_config config = {.size = {.pixels_max = 100}};
        struct lade_bytes *bytes = malloc(sizeof *bytes);
        uint8_t *copy = malloc(size);
        struct lade_source *source;
        struct lade_error error = {.status = 0};
        cr_assert(bytes && copy);
        memcpy(copy, file.data, size);
        *bytes = (struct lade_bytes){copy, size, "cut"};
        int status = lade_members_open(&source, &lade_tar, &config, bytes, 1, false, NULL, &error);
        cr_assert(status == LADE_OK || (status == LADE_DAMAGED && error.offset <= size), "%s", error.text);
        cr_assert(status == LADE_OK || size < file.size);
        samples = status == LADE_OK ? read_all(source) : 0;
        lade_source_close(source);
        free(copy);
    }
    cr_assert_eq(samples, 1, "the first lacks the number, which is fixed");
}

/* In place of the C library's, which depend on the program's locale: the sources call neither. */
static unsigned locale_calls;

double strtod(const char *text, char **end)
{
    locale_calls++;
    return (double)strtold(text, end);
}

struct lconv *localeconv(void)
{
    static struct lconv none;

    locale_calls++;
    return &none;
}

static int json(const char *text, const char *member, struct lade_json *found, double *to)
{
    const struct lade_value value = {(const uint8_t *)text, strlen(text), 0, "f", LADE_VALUE_JSON, NULL, LADE_STORED};

    return lade_json_numbers(found, &value, member, to, 0, 4, NULL);
}

Test(tar, json)
{
    static const char *const bad[] = {"",     "{",     "[1,]",      "01",      "1.",    "-",  "1e", "[1 2]",
                                      "1 2",  "nul",   "\"a",       "{\"a\"}", "{a:1}", ".5", "+1", "[1",
                                      "true", "[[1]]", "[1,\"a\"]", "\"1\"",   "[1,]]", "1]", "{}", "\"\n\""};
    struct lade_json found;
    double to[4];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(json(bad[i], NULL, &found, to), LADE_DAMAGED, "'%s'", bad[i]);
    cr_assert_eq(json(" [ 1 , 2.5e-1,-0 , 1E2 ] ", NULL, &found, to), LADE_OK);
    cr_assert(found.is_array && found.count == 4 && to[0] == 1 && to[1] == 0.25 && to[2] == 0 && to[3] == 100);
    cr_assert_eq(json("0.1", NULL, &found, to), LADE_OK);
    cr_assert(!found.is_array && found.count == 1 && to[0] == 0.1);
    cr_assert_eq(locale_calls, 0);
    cr_assert_eq(json("{\"b\": {\"a\": 1}, \"a\": 2}", "a", &found, to), LADE_OK);
    cr_assert_eq(to[0], 2);
    cr_assert_eq(json("{\"b\": {\"a\": 1}}", "a", &found, to), LADE_DAMAGED);
    for (int depth = 63; depth < 66; depth++) {
        char deep[300] = "";
        memset(deep, '[', (size_t)depth);
        memset(deep + depth, ']', (size_t)depth);
        const bool fits = depth < 65; /* the last array is at this depth */
        cr_assert_eq(json(deep, "a", &found, to), LADE_DAMAGED);
        char whole[400];
        snprintf(whole, sizeof whole, "{\"b\": %s, \"a\": 2}", deep);
        cr_assert_eq(json(whole, "a", &found, to), fits ? LADE_OK : LADE_DAMAGED, "depth %d", depth);
    }
}

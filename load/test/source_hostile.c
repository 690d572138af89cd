/* SPDX-License-Identifier: MIT */
/*
 * The parsers on untrusted bytes. Each input is in a block of exactly its size, so that a sanitizer detects the first
 * byte read beyond it.
 */
#include "source.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef int parser(struct lade_flat *flat, struct lade_bytes bytes, struct lade_error *error);

static int cifar(struct lade_flat *flat, struct lade_bytes bytes, struct lade_error *error)
{
    *flat = (struct lade_flat){.count = 0};
    return lade_cifar_add(flat, LADE_CIFAR_10, bytes, error);
}

static int parse(parser *function, const void *bytes, size_t size, struct lade_error *error)
{
    uint8_t *copy = malloc(size ? size : 1);
    struct lade_flat flat;

    cr_assert_not_null(copy);
    memcpy(copy, bytes, size);
    *error = (struct lade_error){.text = "no text"};
    int status = function(&flat, (struct lade_bytes){copy, size, "f"}, error);
    if (status == LADE_OK) {
        uint8_t *to = malloc(flat.bytes);
        int64_t label;
        cr_assert_not_null(to);
        cr_assert(flat.bytes <= size);
        for (uint64_t i = 0; i < flat.count; i++)
            (void)lade_flat_read(&flat, i, to, &label, NULL);
        free(to);
    } else {
        cr_assert_eq(status, error->status);
        cr_assert(error->offset <= size || error->offset == LADE_NO_OFFSET, "%s", error->text);
    }
    free(copy);
    return status;
}

struct hostile {
    const char *bytes;
    size_t size;
    uint64_t offset;
    const char *text;
};

#define BYTES(TEXT) TEXT, sizeof(TEXT) - 1

static void check_all(parser *function, const struct hostile *h, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lade_error error;
        cr_assert_eq(parse(function, h[i].bytes, h[i].size, &error), LADE_DAMAGED, "case %d: %s", (int)i, h[i].text);
        cr_assert_eq(error.offset, h[i].offset, "case %d: %s", (int)i, error.text);
        cr_assert(strstr(error.text, h[i].text) != NULL, "case %d: '%s', not '%s'", (int)i, error.text, h[i].text);
        cr_assert(strncmp(error.text, "f: ", 3) == 0);
    }
}

Test(idx, hostile)
{
    static const struct hostile cases[] = {
        {BYTES(""), 0, "ends inside the header of IDX"},
        {BYTES("\0\0\x08"), 3, "ends inside the header of IDX"},
        {BYTES("\x1f\x8b\x08\x00"), 0, "is compressed by gzip"},
        {BYTES("\0\1\x08\1\0\0\0\1x"), 0, "is not IDX"},
        {BYTES("\0\0\x0a\1\0\0\0\1x"), 2, "IDX has no type 0x0a"},
        {BYTES("\0\0\x08\0\0\0\0\1x"), 3, "0 dimensions"},
        {BYTES("\0\0\x08\xff\0\0\0\1x"), 3, "255 dimensions"},
        {BYTES("\0\0\x08\2\0\0\0\1\0\0"), 10, "ends inside the header, which has 12 bytes"},
        {BYTES("\0\0\x08\1\0\0\0\0"), 4, "dimension 0 is zero"},
        {BYTES("\0\0\x08\2\0\0\0\1\0\0\0\0x"), 8, "dimension 1 is zero"},
        {BYTES("\0\0\x08\1\xff\xff\xff\xffx"), 9, "ends too early: the header promises 4294967295 samples"},
        {BYTES("\0\0\x0e\4\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 20, "ends too early"},
        /* 2^32 times this is 2^64: a product that wraps would be zero. */
        {BYTES("\0\0\x08\3\0\0\0\1\x80\0\0\0\x80\0\0\0"), 16, "ends too early"},
        {BYTES("\0\0\x08\1\0\0\0\2x"), 9, "ends too early: the header promises 2 samples"},
        {BYTES("\0\0\x08\1\0\0\0\1xy"), 9, "has extra bytes after the last sample"},
    };

    check_all(lade_idx_parse, cases, sizeof cases / sizeof *cases);
}

#define NPY_1(LENGTH) "\x93NUMPY\1\0" LENGTH
#define DICT "{'descr':'|u1','fortran_order':False,'shape':(1,)}" /* 50 bytes */

Test(npy, hostile)
{
    static const struct hostile cases[] = {
        {BYTES(""), 0, "is not npy"},
        {BYTES("\x93NUMPX\1\0\0\0\0\0"), 0, "is not npy"},
        {BYTES("\x93NUMPY\1\0\0\0"), 10, "ends inside the header"},
        {BYTES("\x93NUMPY\0\0\0\0\0\0"), 6, "version 0.0 of npy is not known"},
        {BYTES("\x93NUMPY\4\0\0\0\0\0"), 6, "version 4.0"},
        {BYTES("\x93NUMPY\1\1\0\0\0\0"), 6, "version 1.1"},
        {BYTES(NPY_1("\xff\xff") DICT "x"), 8, "the header claims a length of 65535 bytes"},
        {BYTES("\x93NUMPY\2\0\xff\xff\xff\xff" DICT "x"), 8, "the header claims a length of 4294967295 bytes"},
        {BYTES("\x93NUMPY\3\0\0\0\0\x80" DICT "x"), 8, "the header claims a length of 2147483648 bytes"},
        {BYTES(NPY_1("\0\0") "{}"), 10, "the header is not a dictionary"},
        {BYTES(NPY_1("\2\0") "{}"), 12, "the header lacks one of"},
        {BYTES(NPY_1("\1\0") "{ "), 11, "the header is not a dictionary of"},
        {BYTES(NPY_1("\x0a\0") "{'descr':1"), 19, "the element type is not a quoted text"},
        {BYTES(NPY_1("\x0a\0") "{'descr' 1"), 19, "the header has no colon"},
        {BYTES(NPY_1("\x0a\0") "{'descr':'"), 19, "the element type is not a quoted text"},
        {BYTES(NPY_1("\x0e\0") "{'descr':[('a'"), 19, "arrays of structures are not read"},
        {BYTES(NPY_1("\x0e\0") "{'descr':'|O'}"), 19, "arrays of Python objects are not read"},
        {BYTES(NPY_1("\x10\0") "{'descr':'<f4x'}"), 19, "the element type is not one of NumPy's"},
        {BYTES(NPY_1("\x0d\0") "{'descr':'<>'"), 19, "the element type is not one of NumPy's"},
        {BYTES(NPY_1("\x22\0") "{'descr':'<u99999999999999999999'}"), 19, "the element type is not one of NumPy's"},
        {BYTES(NPY_1("\x16\0") "{'fortran_order':True}"), 11, "the array is in Fortran order"},
        {BYTES(NPY_1("\x17\0") "{'fortran_order':maybe}"), 27, "fortran_order is neither True nor False"},
        {BYTES(NPY_1("\x0b\0") "{'shape':[]"), 19, "the shape is not a tuple"},
        {BYTES(NPY_1("\x0d\0") "{'shape':(-1)"), 20, "the shape has something that is not a number"},
        {BYTES(NPY_1("\x20\0") "{'shape':(99999999999999999999,)"), 39, "the shape has something that is not a number"},
        {BYTES(NPY_1("\x0e\0") "{'shape':(1 2)"), 22, "the shape has no comma"},
        {BYTES(NPY_1("\x0a\0") "{'shape':("), 20, "the shape has something that is not a number"},
        {BYTES(NPY_1("\x4b\0") "{'shape':(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), 84,
         "the shape has more than 32 dimensions"},
        {BYTES(NPY_1("\x1a\0") "{'shape':(1,),'shape':(1,)"), 24, "an unknown key, or one twice"},
        {BYTES(NPY_1("\x06\0") "{'x':1"), 11, "an unknown key"},
        {BYTES(NPY_1("\x08\0") "{'\xc3\xa9':1}"), 12, "not ASCII"},
        {BYTES(NPY_1("\x06\0") "{'x\0':"), 13, "not ASCII"},
        {BYTES(NPY_1("\x33\0") DICT "xy"), 60, "bytes after the dictionary"},
        {BYTES(NPY_1("\x32\0") DICT), 60, "ends too early: the header promises 1 samples"},
        {BYTES(NPY_1("\x32\0") DICT "xy"), 61, "has extra bytes after the last element"},
        {BYTES(NPY_1("\x30\0") "{'descr':'|u1','fortran_order':False,'shape':()}x"), 58, "no dimensions"},
        {BYTES(NPY_1("\x34\0") "{'descr':'|u1','fortran_order':False,'shape':(1,0,)}x"), 62, "a dimension of zero"},
        {BYTES(NPY_1("\x32\0") "{'descr':'<f9','fortran_order':False,'shape':(1,)}x"), 60, "type f9 are not read"},
        {BYTES(NPY_1("\x32\0") "{'descr':'<U0','fortran_order':False,'shape':(1,)}x"), 60, "type U0 are not read"},
        /* 2^62 elements of 16 bytes: 2^66. */
        {BYTES(NPY_1("\x46\0") "{'descr':'<c16','fortran_order':False,'shape':(1,4611686018427387904)}x"), 81,
         "ends too early"},
        {BYTES(NPY_1("\x45\0") "{'descr':'|u1','fortran_order':False,'shape':(18446744073709551615,)}x"), 80,
         "ends too early"},
    };

    check_all(lade_npy_parse, cases, sizeof cases / sizeof *cases);
}

Test(cifar, hostile)
{
    static const struct hostile cases[] = {
        {BYTES(""), 0, "the last record is cut: 0 bytes"},
        {BYTES("abc"), 0, "the last record is cut: 3 bytes, not a multiple of 3073"},
    };

    check_all(cifar, cases, sizeof cases / sizeof *cases);
}

/* A valid file, cut anywhere and with any byte set to any value: an error or samples, never a read outside. */
static void mangle(parser *function, const void *good, size_t size)
{
    struct lade_error error;
    uint8_t *copy = malloc(size);

    cr_assert_not_null(copy);
    memcpy(copy, good, size);
    cr_assert_eq(parse(function, copy, size, &error), LADE_OK, "%s", error.text);
    for (size_t cut = 0; cut < size; cut++)
        cr_assert_eq(parse(function, copy, cut, &error), LADE_DAMAGED);
    for (size_t at = 0; at < size; at++)
        for (unsigned value = 0; value < 256; value++) {
            uint8_t was = copy[at];
            copy[at] = (uint8_t)value;
            (void)parse(function, copy, size, &error);
            copy[at] = was;
        }
    free(copy);
}

Test(idx, mangled)
{
    mangle(lade_idx_parse, "\0\0\x0b\2\0\0\0\2\0\0\0\3abcdefghijkl", 24);
}

Test(npy, mangled)
{
    mangle(lade_npy_parse, "\x93NUMPY\1\0\x39\0{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1)}abcd",
           10 + 57 + 4);
}

Test(records, hostile)
{
    struct lade_flat flat;
    struct lade_error error;
    struct lade_bytes bytes = {(const uint8_t *)"abcdef", 6, "f"};
    struct lade_records r = {.size = 3, .header = UINT64_MAX};

    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_DAMAGED);
    r = (struct lade_records){.size = 3, .label_at = UINT64_MAX, .label_width = 1};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_INVALID);
    r = (struct lade_records){.size = 3, .label_width = 3, .classes = 5};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_INVALID);
    r = (struct lade_records){.size = 3, .label_width = 2, .classes = UINT64_MAX};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_INVALID);
    r = (struct lade_records){.size = UINT64_MAX};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_INVALID);
    r = (struct lade_records){.size = 3, .shaped = true, .shape = {.dtype = LADE_U8, .dims = 99}};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_INVALID);
    r = (struct lade_records){.size = 3, .label_at = 2, .label_width = 1};
    cr_assert_eq(lade_records_parse(&flat, &r, bytes, &error), LADE_OK);
    cr_assert_eq(flat.count, 2);
}

/* Labels of every width and sign, at their limits. */
Test(labels, of_all_widths)
{
    static const struct {
        const char *bytes;
        unsigned width;
        bool is_signed, big;
        int status;
        int64_t label;
    } cases[] = {
        {"\xff", 1, false, false, LADE_OK, 255},
        {"\xff", 1, true, false, LADE_DAMAGED, 0},
        {"\1\2", 2, false, false, LADE_OK, 0x201},
        {"\1\2", 2, true, true, LADE_OK, 0x102},
        {"\1\2\3", 3, false, true, LADE_OK, 0x010203},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, true, false, LADE_DAMAGED, 0},
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, false, false, LADE_DAMAGED, 0},
        {"\0\0\0\0\0\0\0\x80", 8, true, false, LADE_DAMAGED, 0},
        {"\xff\xff\xff\0", 4, false, false, LADE_OK, 0xffffff},
        {"\0\0\0\1", 4, false, false, LADE_DAMAGED, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lade_flat flat = {.extents = 1, .count = 1, .classes = LADE_CLASSES_MAX};
        struct lade_error error;
        int64_t label;
        flat.labels = (struct lade_labels){.data = (const uint8_t *)cases[i].bytes,
                                           .width = cases[i].width,
                                           .is_signed = cases[i].is_signed,
                                           .big = cases[i].big,
                                           .name = "f"};
        cr_assert_eq(lade_flat_label(&flat, 0, &label, &error), cases[i].status, "case %d", (int)i);
        cr_assert(cases[i].status != LADE_OK || label == cases[i].label, "case %d: %d", (int)i, (int)label);
    }
}

Test(error, long_names_and_texts_are_cut)
{
    struct lade_error error;
    char name[1000], *names[3] = {"f", NULL, name};

    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - 5, "/end", 5);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(lade_fail(&error, LADE_IO, names[i], 7, "%600s", "x"), LADE_IO);
        cr_assert_eq(strlen(error.text), sizeof error.text - 1);
    }
    cr_assert_eq(lade_fail(&error, LADE_IO, name, 7, "x"), LADE_IO);
    cr_assert(strstr(error.text, "/end: x, at byte 7") != NULL && strncmp(error.text, "...n", 4) == 0);
    cr_assert_eq(lade_fail(NULL, LADE_IO, name, 7, "x"), LADE_IO);
}

Test(class_names, need_a_line_for_each)
{
    char **names = lade_class_names((struct lade_bytes){(const uint8_t *)"a\n\r\nbb", 6, "f"}, 2, NULL);

    cr_assert_not_null(names);
    cr_assert_str_eq(names[0], "a");
    cr_assert_str_eq(names[1], "bb");
    free(names);
    cr_assert_null(lade_class_names((struct lade_bytes){(const uint8_t *)"a\nbb", 4, "f"}, 3, NULL));
    cr_assert_null(lade_class_names((struct lade_bytes){(const uint8_t *)"a\0b", 3, "f"}, UINT64_MAX, NULL));
}

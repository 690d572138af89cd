/* SPDX-License-Identifier: MIT */
/* The sources that read numbers from memory and files, on files written here byte by byte. */
#define _GNU_SOURCE
#include <lade/source.h>

#include "files.h"

#include <pthread.h>

static struct lade_source *open_good(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

static void refused(const char *text, int status, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), status, "%s: %s", text, error.text);
    cr_assert_eq(error.status, status);
    cr_assert_null(source);
    cr_assert(strstr(error.text, words) != NULL, "%s: '%s' has no '%s'", text, error.text, words);
    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, NULL), status);
}

Test(shape, bytes_and_names)
{
    struct lade_shape s = {.dtype = LADE_F32, .dims = 2, .dim = {3, 5}};

    cr_assert_eq(lade_shape_bytes(&s), 60);
    s.dims = 0;
    cr_assert_eq(lade_shape_bytes(&s), 4);
    s = (struct lade_shape){.dtype = LADE_U16, .dims = 3, .dim = {UINT64_C(1) << 31, UINT64_C(1) << 31, 1}};
    cr_assert_eq(lade_shape_bytes(&s), 0, "2^63 bytes are too many");
    s.dim[1] = 0;
    cr_assert_eq(lade_shape_bytes(&s), 0);
    s.dims = LADE_DIMS_MAX + 1;
    cr_assert_eq(lade_shape_bytes(&s), 0);
    cr_assert_str_eq(lade_dtype_name(LADE_C128), "c128");
    cr_assert_null(lade_dtype_name((enum lade_dtype)99));
    cr_assert_eq(lade_dtype_size((enum lade_dtype) - 1), 0);
}

Test(array, samples_labels_keys_and_names)
{
    static const uint16_t samples[3][2] = {{1, 2}, {3, 4}, {500, 600}};
    static const int32_t labels[3] = {4, 0, 2};
    struct lade_source_array a = {samples, 3, {.dtype = LADE_U16, .dims = 1, .dim = {2}}, labels, LADE_I32, 0, NULL};
    struct lade_source *source;
    struct lade_error error;
    uint16_t to[2];
    int64_t label;
    char name[8];

    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_OK);
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert(info->count == 3 && info->bytes == 4 && info->classes == 5 && info->index_bytes == 0);
    cr_assert_eq(lade_source_read(source, 2, to, &label, &error), LADE_OK);
    cr_assert(to[0] == 500 && to[1] == 600 && label == 2);
    cr_assert_eq(lade_source_read(source, 0, to, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_source_label(source, 0, &label, NULL), LADE_OK);
    cr_assert(to[0] == 1 && label == 4);
    cr_assert_eq(lade_source_key(source, 2), 2);
    lade_source_name(source, 2, name, sizeof name);
    cr_assert_str_eq(name, "2");
    cr_assert_eq(lade_source_read(source, 3, to, &label, &error), LADE_INVALID);
    cr_assert_str_eq(error.text, "array: there is no sample 3; there are 3");
    cr_assert_eq(lade_source_label(source, 3, &label, &error), LADE_INVALID);
    cr_assert_eq(lade_source_next(source, to, &label, NULL, &error), LADE_INVALID);
    lade_source_close(source);
    lade_source_close(NULL);
}

Test(array, refuses_what_cannot_be)
{
    static const uint8_t samples[4] = {1, 2, 3, 4};
    static const int8_t labels[4] = {0, 1, -1, 2};
    struct lade_source_array a = {samples, 4, {.dtype = LADE_U8}, labels, LADE_I8, 0, NULL};
    struct lade_source *source;
    struct lade_error error;
    int64_t label;
    uint8_t to;

    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_DAMAGED);
    cr_assert_str_eq(error.text, "array: the label of sample 2 is negative, at byte 2");
    a.classes = 2; /* labels are checked when they are read */
    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_OK);
    cr_assert_eq(lade_source_read(source, 1, &to, &label, &error), LADE_OK);
    cr_assert_eq(lade_source_read(source, 3, &to, &label, &error), LADE_DAMAGED);
    cr_assert_str_eq(error.text, "array: the label of sample 3 is not below the number of classes, at byte 3");
    cr_assert_eq(error.offset, 3);
    lade_source_close(source);
    a.label_dtype = LADE_F32;
    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_INVALID);
    a.labels = NULL;
    a.count = 0;
    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_INVALID);
    a.count = UINT64_MAX;
    a.shape = (struct lade_shape){.dtype = LADE_U64};
    cr_assert_eq(lade_source_open_array(&source, &a, &error), LADE_INVALID);
}

/* A file of CIFAR-10 with n records: label i % 10, and byte j of record i is i + j. */
static void put_cifar(const char *name, unsigned from, unsigned n, unsigned labels)
{
    unsigned size = 3072 + labels;
    uint8_t *bytes = malloc(n * size);

    for (unsigned i = 0; i < n; i++) {
        bytes[i * size] = (uint8_t)((from + i) % 10);
        if (labels == 2)
            bytes[i * size + 1] = (uint8_t)((from + i) % 100);
        for (unsigned j = 0; j < 3072; j++)
            bytes[i * size + labels + j] = (uint8_t)(from + i + j);
    }
    put_file(name, bytes, n * size);
    free(bytes);
}

static void check_cifar(struct lade_source *source, uint64_t i, unsigned number, int64_t expected)
{
    static uint8_t to[3072];
    int64_t label;

    cr_assert_eq(lade_source_read(source, i, to, &label, NULL), LADE_OK);
    for (unsigned j = 0; j < 3072; j++)
        cr_assert_eq(to[j], (uint8_t)(number + j));
    cr_assert_eq(label, expected);
    cr_assert_eq(lade_source_label(source, i, &label, NULL), LADE_OK);
    cr_assert_eq(label, expected);
}

Test(cifar, folder_files_parts_and_names, .init = make_folder, .fini = remove_folder)
{
    static const char names[] = "airplane\nautomobile\r\nbird\ncat\ndeer\ndog\nfrog\nhorse\nship\ntruck\n\n";
    char file[32];

    for (unsigned f = 0; f < 5; f++) {
        snprintf(file, sizeof file, "data_batch_%u.bin", f + 1);
        put_cifar(file, 10 * f, f + 1, 1);
    }
    put_cifar("test_batch.bin", 100, 2, 1);
    put_file("batches.meta.txt", names, sizeof names - 1);
    struct lade_source *source = open_good("cifar10:@");
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert(info->count == 15 && info->bytes == 3072 && info->classes == 10 && info->shape.dims == 3);
    cr_assert_str_eq(info->class_names[1], "automobile");
    cr_assert_str_eq(info->class_names[9], "truck");
    check_cifar(source, 0, 0, 0);
    check_cifar(source, 1, 10, 0);
    check_cifar(source, 5, 22, 2);
    check_cifar(source, 14, 44, 4);
    lade_source_close(source);
    source = open_good("cifar10:@,part=test");
    cr_assert_eq(lade_source_info(source)->count, 2);
    check_cifar(source, 1, 101, 1);
    lade_source_close(source);
    source = open_good("cifar10:@,part=all");
    cr_assert_eq(lade_source_info(source)->count, 17);
    lade_source_close(source);
    source = open_good("cifar10:@/data_batch_2.bin,@/test_batch.bin");
    cr_assert_eq(lade_source_info(source)->count, 4);
    cr_assert_null(lade_source_info(source)->class_names);
    check_cifar(source, 3, 101, 1);
    lade_source_close(source);
    refused("cifar10:@,part=some", LADE_INVALID, "part is train, test or all");
    refused("cifar10:@/test_batch.bin,part=all", LADE_INVALID, "part needs a folder, not single files");
    refused("cifar10:", LADE_INVALID, "the name of a file is missing");
    refused("cifar10:@/nosuch", LADE_IO, "nosuch: cannot be opened: No such file");
    refused("cifar100:@", LADE_IO, "train.bin: cannot be opened");
}

Test(cifar, hundred_has_two_labels, .init = make_folder, .fini = remove_folder)
{
    put_cifar("train.bin", 17, 30, 2);
    struct lade_source *source = open_good("cifar100:@");
    cr_assert_eq(lade_source_info(source)->classes, 100);
    check_cifar(source, 8, 25, 25);
    lade_source_close(source);
    source = open_good("cifar100:@,labels=coarse");
    cr_assert_eq(lade_source_info(source)->classes, 20);
    check_cifar(source, 8, 25, 5);
    lade_source_close(source);
    refused("cifar100:@,labels=both", LADE_INVALID, "labels is fine or coarse");
}

Test(cifar, damage_is_reported_with_its_offset, .init = make_folder, .fini = remove_folder)
{
    static uint8_t bytes[3 * 3073];
    struct lade_error error;
    struct lade_source *source;
    int64_t label;

    bytes[3073] = 10;
    put_file("a.bin", bytes, sizeof bytes);
    put_file("b.bin", bytes, 2 * 3073 + 7);
    put_file("c.bin", bytes, 0);
    source = open_good("cifar10:@/a.bin");
    cr_assert_eq(lade_source_read(source, 1, bytes, &label, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 3073);
    cr_assert(strstr(error.text, "a.bin: the label of sample 1 is not below") != NULL);
    cr_assert_eq(lade_source_read(source, 2, bytes, &label, &error), LADE_OK);
    lade_source_close(source);
    refused("cifar10:@/b.bin", LADE_DAMAGED,
            "b.bin: the last record is cut: 6153 bytes, not a multiple of 3073, at byte 6146");
    refused("cifar10:@/c.bin", LADE_DAMAGED, "c.bin: is empty");
    refused("cifar10:@/a.bin,@", LADE_IO, "is not a file");
}

/* Type, big-endian samples and their values in machine order. */
Test(idx, every_type_of_the_format, .init = make_folder, .fini = remove_folder)
{
    static const uint8_t u8[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 255};
    static const uint8_t i8[] = {0, 0, 9, 1, 0, 0, 0, 2, 5, 0x80};
    static const uint8_t i16[] = {0, 0, 0xb, 1, 0, 0, 0, 2, 1, 2, 0xff, 0xfe};
    static const uint8_t i32[] = {0, 0, 0xc, 1, 0, 0, 0, 1, 1, 2, 3, 4};
    static const uint8_t f32[] = {0, 0, 0xd, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0};
    static const uint8_t f64[] = {0, 0, 0xe, 1, 0, 0, 0, 1, 0x3f, 0xe0, 0, 0, 0, 0, 0, 0};
    uint8_t a[2];
    int8_t b;
    int16_t c;
    int32_t d;
    float e[2];
    double f;

    put_file("u8", u8, sizeof u8);
    put_file("i8", i8, sizeof i8);
    put_file("i16", i16, sizeof i16);
    put_file("i32", i32, sizeof i32);
    put_file("f32", f32, sizeof f32);
    put_file("f64", f64, sizeof f64);
    const struct {
        const char *text;
        void *to;
        uint64_t at, count;
        enum lade_dtype dtype;
    } cases[] = {{"idx:@/u8", a, 1, 2, LADE_U8},    {"idx:@/i8", &b, 1, 2, LADE_I8},
                 {"idx:@/i16", &c, 1, 2, LADE_I16}, {"idx:@/i32", &d, 0, 1, LADE_I32},
                 {"idx:@/f32", e, 0, 1, LADE_F32},  {"idx:@/f64", &f, 0, 1, LADE_F64}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lade_source *source = open_good(cases[i].text);
        int64_t label = 5;
        cr_assert_eq(lade_source_info(source)->count, cases[i].count);
        cr_assert_eq(lade_source_info(source)->shape.dtype, cases[i].dtype);
        cr_assert_eq(lade_source_read(source, cases[i].at, cases[i].to, &label, NULL), LADE_OK);
        cr_assert_eq(label, LADE_NO_LABEL);
        lade_source_close(source);
    }
    cr_assert(a[0] == 3 && a[1] == 255 && b == -128 && c == -2 && d == 0x01020304);
    cr_assert(e[0] == 1.0f && e[1] == -2.0f && f == 0.5);
}

Test(idx, labels_and_their_damage, .init = make_folder, .fini = remove_folder)
{
    static const uint8_t samples[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 1, 2, 3, 4};
    static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3};
    static const uint8_t wide[] = {0, 0, 0xc, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t more[] = {0, 0, 8, 1, 0, 0, 0, 3, 7, 3, 1};
    uint8_t to[2];
    int64_t label;

    put_file("s", samples, sizeof samples);
    put_file("l", labels, sizeof labels);
    put_file("wide", wide, sizeof wide);
    put_file("more", more, sizeof more);
    struct lade_source *source = open_good("idx:@/s,@/l");
    cr_assert_eq(lade_source_info(source)->classes, 8);
    cr_assert_eq(lade_source_read(source, 1, to, &label, NULL), LADE_OK);
    cr_assert(to[0] == 3 && to[1] == 4 && label == 3);
    lade_source_close(source);
    refused("idx:@/s,@/wide", LADE_DAMAGED, "wide: the label of sample 1 is negative, at byte 12");
    refused("idx:@/s,@/more", LADE_DAMAGED, "more: 3 labels for 2 samples");
    refused("idx:@/s,@/s", LADE_DAMAGED, "s: labels are integers in one dimension, not u8 in 3");
    refused("idx:@/s,@/l,@/l", LADE_INVALID, "idx: does not take");
}

Test(npy, types_orders_and_labels, .init = make_folder, .fini = remove_folder)
{
    /* As numpy.save writes them, apart from the length of the padding. */
    static const char f32[] =
        "\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1)}\n\0\0\x80\x3f\0\0\0\xc0";
    static const char big[] =
        "\x93NUMPY\x02\x00\x38\x00\0\0{'descr':'>i2','fortran_order':False,'shape':(2,2,),}  \n\0\1\0\2\0\3\xff\xff";
    static const char labels[] = "\x93NUMPY\x03\x00\x38\x00\0\0{\"descr\": '<i8', 'shape': (2,), 'fortran_order': "
                                 "False}\n\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0";
    static const char complex[] =
        "\x93NUMPY\x01\x00\x38\x00{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}\n\x3f\x80\0\0\xc0\0\0\0";
    static const char texts[] =
        "\x93NUMPY\x01\x00\x38\x00{'descr': '|S3', 'fortran_order': False, 'shape': (2,)}\nabcxy\0";
    float f;
    int16_t two[2];
    float c[2];
    char text[3];
    int64_t label;

    put_file("f32", f32, sizeof f32 - 1);
    put_file("big", big, sizeof big - 1);
    put_file("labels", labels, sizeof labels - 1);
    put_file("complex", complex, sizeof complex - 1);
    put_file("texts", texts, sizeof texts - 1);
    struct lade_source *source = open_good("npy:@/f32,labels=@/labels");
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert(info->count == 2 && info->classes == 3 && info->shape.dims == 1 && info->shape.dim[0] == 1);
    cr_assert_eq(lade_source_read(source, 1, &f, &label, NULL), LADE_OK);
    cr_assert(f == -2.0f && label == 1);
    lade_source_close(source);
    source = open_good("npy:@/big");
    cr_assert(lade_source_info(source)->classes == 0);
    cr_assert_eq(lade_source_read(source, 1, two, &label, NULL), LADE_OK);
    cr_assert(two[0] == 3 && two[1] == -1 && label == LADE_NO_LABEL);
    lade_source_close(source);
    source = open_good("npy:@/complex");
    cr_assert_eq(lade_source_read(source, 0, c, &label, NULL), LADE_OK);
    cr_assert(c[0] == 1.0f && c[1] == -2.0f);
    lade_source_close(source);
    source = open_good("npy:@/texts");
    cr_assert_eq(lade_source_read(source, 1, text, &label, NULL), LADE_OK);
    cr_assert_arr_eq(text, "xy\0", 3);
    lade_source_close(source);
    refused("npy:@/f32,labels=@/f32", LADE_DAMAGED, "f32: labels are integers in one dimension, not f32 in 2");
    refused("npy:@/f32,@/labels", LADE_INVALID, "npy: does not take");
}

Test(records, label_anywhere_header_shape, .init = make_folder, .fini = remove_folder)
{
    static const uint8_t bytes[] = {9, 9, 1, 2, 7, 0, 3, 4, 5, 6, 1, 1, 7, 8};
    struct lade_error error;
    uint8_t to[6];
    int64_t label;

    put_file("r,1", bytes, sizeof bytes);
    struct lade_source *source = open_good("records:@/r\\,1,size=6,header=2,label=2:2,classes=300,shape=2x2");
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert(info->count == 2 && info->bytes == 4 && info->classes == 300 && info->shape.dims == 2);
    cr_assert_eq(lade_source_read(source, 0, to, &label, NULL), LADE_OK);
    cr_assert_arr_eq(to, ((uint8_t[]){1, 2, 3, 4}), 4);
    cr_assert_eq(label, 7);
    cr_assert_eq(lade_source_read(source, 1, to, &label, NULL), LADE_OK);
    cr_assert_arr_eq(to, ((uint8_t[]){5, 6, 7, 8}), 4);
    cr_assert_eq(label, 257);
    lade_source_close(source);
    source = open_good("records:@/r\\,1,size=7,label=6:1");
    cr_assert_eq(lade_source_info(source)->classes, 256);
    cr_assert_eq(lade_source_read(source, 1, to, &label, NULL), LADE_OK);
    cr_assert_arr_eq(to, ((uint8_t[]){4, 5, 6, 1, 1, 7}), 6);
    cr_assert_eq(label, 8);
    lade_source_close(source);
    source = open_good("records:@/r\\,1,size=2,dtype=u16");
    cr_assert(lade_source_info(source)->count == 7 && lade_source_info(source)->shape.dtype == LADE_U16);
    lade_source_close(source);
    source = open_good("records:@/r\\,1,size=7,label=4:1,classes=2");
    cr_assert_eq(lade_source_read(source, 0, to, &label, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 4);
    lade_source_close(source);
    refused("records:@/r\\,1", LADE_INVALID, "size=N, the bytes of a record, is missing");
    refused("records:@/r\\,1,size=4", LADE_DAMAGED, "the last record is cut: it has 2 of 4 bytes, at byte 12");
    refused("records:@/r\\,1,size=7,header=14", LADE_DAMAGED, "ends inside the header of 14 bytes");
    refused("records:@/r\\,1,size=7,label=6:2,classes=2", LADE_INVALID, "1 to 8 bytes inside the record");
    refused("records:@/r\\,1,size=7,label=0:2", LADE_INVALID, "labels of 2 bytes need classes=N");
    refused("records:@/r\\,1,size=14,label=0:0,classes=2", LADE_INVALID, "OFFSET:BYTES with 1 to 8 bytes, not '0:0'");
    refused("records:@/r\\,1,size=14,label=0:9,classes=2", LADE_INVALID, "OFFSET:BYTES with 1 to 8 bytes, not '0:9'");
    source = open_good("records:@/r\\,1,size=14,label=0:8,classes=2");
    cr_assert_eq(lade_source_read(source, 0, to, &label, &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, 0);
    lade_source_close(source);
    refused("records:@/r\\,1,size=7,label=0", LADE_INVALID, "label takes OFFSET:BYTES");
    refused("records:@/r\\,1,size=7,shape=2x4", LADE_INVALID, "the shape has 8 bytes, a record without its label 7");
    refused("records:@/r\\,1,size=7,shape=2x", LADE_INVALID, "a shape is numbers with x between them, not '2x'");
    refused("records:@/r\\,1,size=7,shape=0x2", LADE_INVALID, "a shape must have no zero");
    refused("records:@/r\\,1,size=7,dtype=f8", LADE_INVALID, "there is no dtype 'f8'");
    refused("records:@/r\\,1,size=99999999999999999999", LADE_INVALID, "size takes a number below 2^64");
    refused("records:@/r\\,1,size=18446744073709551615", LADE_INVALID, "the shape has");
}

Test(open, unknown_kinds_and_options)
{
    refused("", LADE_INVALID, "'' names no source; there are synthetic, cifar10");
    refused("cifar:x", LADE_INVALID, "'cifar:x' names no source");
    refused("synthetic:count=18446744073709551615", LADE_INVALID, "the number of samples is above 2^62");
    refused("synthetic:cuont=5", LADE_INVALID, "synthetic: does not take 'cuont=5'");
    refused("synthetic:a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", LADE_INVALID,
            "more than 40 items");
}

/* A custom source: numbered samples without a label function, and a stream that ends. */
static int read_number(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)error;
    *(uint8_t *)to = (uint8_t)i;
    *label = (int64_t)(i % 3);
    ++*(int *)self;
    return LADE_OK;
}

static int next_number(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    int i = ++*(int *)self;

    if (i > 2)
        return LADE_EMPTY;
    *key = (uint64_t)(10 * i);
    return read_number(&(int){0}, (uint64_t)i, to, label, error);
}

static void close_number(void *self)
{
    *(int *)self = -1;
}

Test(make, a_custom_source)
{
    struct lade_source_ops ops = {.read = read_number, .close = close_number};
    struct lade_source_info info = {.kind = "own", .count = 5, .shape = {.dtype = LADE_U8}, .bytes = 1, .classes = 3};
    struct lade_source *source;
    struct lade_error error;
    int self = 0;
    int64_t label;
    uint64_t key;
    uint8_t to;

    cr_assert_eq(lade_source_open_custom(&source, &ops, &self, &info, NULL, &error), LADE_OK);
    cr_assert_eq(lade_source_label(source, 4, &label, &error), LADE_OK);
    cr_assert(label == 1 && self == 1);
    lade_source_close(source);
    cr_assert_eq(self, -1);
    self = 0;
    ops = (struct lade_source_ops){.next = next_number, .close = close_number};
    cr_assert_eq(lade_source_open_custom(&source, &ops, &self, &info, NULL, &error), LADE_INVALID);
    info.count = LADE_ENDLESS;
    cr_assert_eq(lade_source_open_custom(&source, &ops, &self, &info, NULL, &error), LADE_OK);
    cr_assert_eq(lade_source_read(source, 0, &to, &label, &error), LADE_INVALID);
    cr_assert_eq(lade_source_next(source, &to, NULL, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_source_next(source, &to, &label, &key, &error), LADE_OK);
    cr_assert(to == 2 && label == 2 && key == 20);
    cr_assert_eq(lade_source_next(source, &to, &label, &key, &error), LADE_EMPTY);
    lade_source_close(source);
    info.bytes = 2;
    cr_assert_eq(lade_source_open_custom(&source, &ops, &self, &info, NULL, &error), LADE_INVALID);
}

/* Wrong labels of a custom source: sample 3 has the label in self, the others 0. */
static int label_as_told(void *self, uint64_t i, int64_t *label, struct lade_error *error)
{
    (void)error;
    *label = i == 3 ? *(int64_t *)self : 0;
    return LADE_OK;
}

static int read_as_told(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    *(uint8_t *)to = (uint8_t)i;
    return label_as_told(self, i, label, error);
}

/* All of them, or only the first four and an error at the next. */
static int gather_as_told(void *self, const uint64_t *ids, uint64_t count, void *to, int64_t *labels, uint64_t *done,
                          struct lade_error *error)
{
    for (*done = 0; *done < count; ++*done) {
        if (*done == 4 && ids[4] == 0)
            return LADE_IO;
        (void)read_as_told(self, ids[*done], (uint8_t *)to + *done, &labels[*done], error);
    }
    return LADE_OK;
}

static int next_as_told(void *self, void *to, int64_t *label, uint64_t *key, struct lade_error *error)
{
    *key = 3;
    return read_as_told(self, 3, to, label, error);
}

static void label_is_damaged(int status, const struct lade_error *error)
{
    cr_assert_eq(status, LADE_DAMAGED);
    cr_assert_eq(error->status, LADE_DAMAGED);
    cr_assert(strstr(error->text, "own: the label of sample 3 is "), "%s", error->text);
}

Test(make, labels_that_are_not_below_the_classes_are_damage)
{
    static const int64_t wrong[] = {3, INT64_MAX, -1, INT64_MIN};
    struct lade_source_info info = {.kind = "own", .count = 6, .shape = {.dtype = LADE_U8}, .bytes = 1, .classes = 3};
    const struct lade_source_ops plain = {.read = read_as_told},
                                 all = {.read = read_as_told, .label = label_as_told, .gather = gather_as_told},
                                 stream = {.next = next_as_told};

    for (size_t w = 0; w < sizeof wrong / sizeof *wrong; w++) {
        const uint64_t ids[] = {0, 1, 3, 2, 5}, then_fails[] = {0, 1, 3, 2, 0};
        int64_t self = wrong[w], label, labels[5];
        struct lade_source *source;
        struct lade_error error;
        uint64_t done, key;
        uint8_t to[5];
        for (int with = 0; with < 2; with++) {
            info.count = 6;
            cr_assert_eq(lade_source_open_custom(&source, with ? &all : &plain, &self, &info, NULL, &error), LADE_OK);
            label_is_damaged(lade_source_read(source, 3, to, &label, &error), &error);
            label_is_damaged(lade_source_read(source, 3, to, NULL, &error), &error);
            label_is_damaged(lade_source_label(source, 3, &label, &error), &error);
            label_is_damaged(lade_source_gather(source, ids, 5, to, labels, &done, &error), &error);
            cr_assert_eq(done, 2, "those before it are read");
            label_is_damaged(lade_source_gather(source, then_fails, 5, to, labels, &done, &error), &error);
            cr_assert_eq(done, 2);
            cr_assert_eq(lade_source_gather(source, ids, 2, to, labels, &done, &error), LADE_OK);
            cr_assert_eq(lade_source_read(source, 3, to, &label, NULL), LADE_DAMAGED);
            cr_assert_eq(lade_source_read(source, 4, to, &label, &error), LADE_OK);
            lade_source_close(source);
        }
        info.count = LADE_ENDLESS;
        cr_assert_eq(lade_source_open_custom(&source, &stream, &self, &info, NULL, &error), LADE_OK);
        label_is_damaged(lade_source_next(source, to, &label, &key, &error), &error);
        label_is_damaged(lade_source_next(source, to, NULL, NULL, &error), &error);
        lade_source_close(source);
    }
}

/* A gather that violates its contract: sets *done only if requested, or far beyond. */
static uint64_t done_as_told;
static int status_as_told;

static int gather_silent(void *self, const uint64_t *ids, uint64_t count, void *to, int64_t *labels, uint64_t *done,
                         struct lade_error *error)
{
    for (uint64_t i = 0; i < count; i++)
        (void)read_as_told(self, ids[i], (uint8_t *)to + i, &labels[i], error);
    if (done_as_told)
        *done = done_as_told;
    return status_as_told;
}

Test(make, gather_reports_how_far_it_came)
{
    const struct lade_source_ops ops = {.read = read_as_told, .gather = gather_silent};
    const struct lade_source_info info = {
        .kind = "own", .count = 6, .shape = {.dtype = LADE_U8}, .bytes = 1, .classes = 3};
    const uint64_t ids[] = {5, 1, 2};
    int64_t self = 0, labels[3];
    struct lade_source *source;
    uint64_t done = 77;
    uint8_t to[3];

    cr_assert_eq(lade_source_open_custom(&source, &ops, &self, &info, NULL, NULL), LADE_OK);
    cr_assert_eq(lade_source_gather(source, ids, 3, to, labels, &done, NULL), LADE_OK);
    cr_assert_eq(done, 3);
    done_as_told = 1000000;
    status_as_told = LADE_IO;
    memset(to, 0, sizeof to);
    cr_assert_eq(lade_source_gather(source, ids, 3, to, labels, &done, NULL), LADE_OK, "one by one they can be read");
    cr_assert(done == 3 && to[0] == 5 && to[2] == 2);
    done_as_told = 2;
    cr_assert_eq(lade_source_gather(source, ids, 3, to, labels, &done, NULL), LADE_IO);
    cr_assert_eq(done, 2);
    lade_source_close(source);
}

/* Names may hold anything; what is printed is one line without control characters. */
Test(open, names_in_errors_are_escaped, .init = make_folder, .fini = remove_folder)
{
    struct lade_source *source;
    struct lade_error error;

    cr_assert_eq(lade_source_open(&source, in_folder("idx:@/a\nb\033[31m\xff"), NULL, &error), LADE_IO);
    cr_assert(strstr(error.text, "/a\\nb\\x1b[31m\\xff: cannot be opened"), "%s", error.text);
}

/* Anonymous memory of this process in KiB; -1 if the system does not report it. */
static long anonymous(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long found = -1;

    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %ld", &found);
    if (status)
        fclose(status);
    return found;
}

/* Files are mapped: a hundred times as many records take no more memory. */
Test(memory, does_not_grow_with_the_file, .init = make_folder, .fini = remove_folder)
{
    static uint8_t to[4096];
    long used[2];

    for (int large = 0; large < 2; large++) {
        put_file("f", "x", 1);
        cr_assert_eq(truncate(in_folder("@/f"), large ? 100 << 20 : 1 << 20), 0);
        struct lade_source *source = open_good("records:@/f,size=4096,label=0:1");
        for (uint64_t i = 0; i < lade_source_info(source)->count; i++)
            cr_assert_eq(lade_source_read(source, i, to, NULL, NULL), LADE_OK);
        used[large] = anonymous();
        lade_source_close(source);
    }
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    /* The sanitizer keeps additional memory for each byte that is read. */
    return;
#endif
    cr_assert(used[1] - used[0] < 1024, "%ld KiB and %ld KiB", used[0], used[1]);
}

static struct lade_source *shared;

static void *read_all(void *arg)
{
    uint8_t to[3072];
    int64_t label;
    uintptr_t wrong = 0;

    for (uint64_t i = 0; i < 60; i++)
        wrong +=
            lade_source_read(shared, i, to, &label, NULL) != LADE_OK || to[0] != (uint8_t)i || label != (int64_t)i % 10;
    (void)arg;
    return (void *)wrong;
}

Test(threads, many_read_at_once, .init = make_folder, .fini = remove_folder)
{
    pthread_t thread[4];
    void *wrong;

    put_cifar("a", 0, 30, 1);
    put_cifar("b", 30, 30, 1);
    shared = open_good("cifar10:@/a,@/b");
    for (int t = 0; t < 4; t++)
        cr_assert_eq(pthread_create(&thread[t], NULL, read_all, NULL), 0);
    for (int t = 0; t < 4; t++) {
        cr_assert_eq(pthread_join(thread[t], &wrong), 0);
        cr_assert_null(wrong);
    }
    lade_source_close(shared);
}

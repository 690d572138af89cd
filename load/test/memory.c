/* SPDX-License-Identifier: MIT */
/* Sources and pipelines without memory. */
#define _GNU_SOURCE
#include <lade/source.h>
#include <lade/transform.h>

#include "../../lib/test/allocator.h"
#include "failing.h"
#include "members.h"

/* Two samples of two classes, without a function for labels: the library reads the sample. */
static int read_two(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)self, (void)error;
    memset(to, (int)i, 7);
    *label = (int64_t)i;
    return LADE_OK;
}

static int open_custom(struct lade_source **source, const struct lade_alloc *alloc, struct lade_error *error)
{
    static const struct lade_source_ops ops = {.read = read_two};
    static const struct lade_source_info info = {
        .kind = "two", .count = 2, .shape = {LADE_U8, 1, {7}}, .bytes = 7, .classes = 2};

    return lade_source_open_custom(source, &ops, NULL, &info, alloc, error);
}

static int open_array(struct lade_source **source, const struct lade_alloc *alloc, struct lade_error *error)
{
    static const uint8_t bytes[] = {1, 0};
    struct lade_source_array array = {.samples = bytes, .count = 2, .labels = bytes, .label_dtype = LADE_U8};

    array.shape.dtype = LADE_U8;
    array.alloc = alloc;
    return lade_source_open_array(source, &array, error);
}

static int open_synthetic(struct lade_source **source, const struct lade_alloc *alloc, struct lade_error *error)
{
    struct lade_source_synthetic synthetic;

    lade_source_synthetic_default(&synthetic);
    synthetic.alloc = alloc;
    return lade_source_open_synthetic(source, &synthetic, error);
}

/* What try_allocator() opens: a text or a function. */
static const char *opened_text;
static int open_text(struct lade_source **source, const struct lade_alloc *alloc, struct lade_error *error)
{
    return lade_source_open(source, in_folder(opened_text), alloc, error);
}

/*
 * Opens, reads samples and labels, and closes with the first, second, ... allocation of an allocator failing, until
 * none fails. Everything is freed. Returns the number of allocations; *asks: of the C library's, without a failure.
 */
static int try_allocator(int (*open)(struct lade_source **source, const struct lade_alloc *alloc,
                                     struct lade_error *error),
                         uint64_t samples, int *asks)
{
    for (int n = 1; n < 1000; n++) {
        static uint8_t to[4096];
        struct failing f = {.fail_at = n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_source *source = NULL;
        struct lade_error error = {.text = "no text"};
        int64_t label;
        asked = 0;
        int status = open(&source, &alloc, &error);
        cr_assert_eq(status == LADE_OK, source != NULL);
        for (uint64_t i = 0; status == LADE_OK && i < samples; i++) {
            status = lade_source_read(source, i, to, NULL, &error);
            if (status == LADE_OK)
                status = lade_source_label(source, i, &label, &error);
        }
        lade_source_close(source);
        cr_assert(status == LADE_OK || status == LADE_NO_MEMORY, "%d: %s", n, error.text);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0, "freed with the sizes that were asked for");
        *asks = asked;
        if (f.calls < n)
            return f.calls;
    }
    return -1;
}

/* All memory is the allocator's. The number of allocations. */
static int try_allocator_alone(const char *text, uint64_t samples)
{
    int asks, calls;

    opened_text = text;
    calls = try_allocator(open_text, samples, &asks);
    cr_assert_eq(asks, 0, "%s: the C library's memory", text);
    return calls;
}

/* Opens and reads with the first, second, ... allocation failing, until none fails. The number of failures. */
static int try_all(const char *text)
{
    int failures = 0;

    for (int n = 0; n < 1000; n++) {
        static uint8_t to[4096];
        struct lade_source *source;
        struct lade_error error = {.text = "no text"};
        until_failure = n;
        int status = lade_source_open(&source, in_folder(text), NULL, &error);
        for (uint64_t i = 0; status == LADE_OK && i < 2; i++)
            status = lade_source_read(source, i, to, NULL, &error);
        bool all_used = until_failure >= 0;
        until_failure = -1;
        cr_assert(status == LADE_OK || status == LADE_NO_MEMORY, "%s, %d: %s", text, n, error.text);
        cr_assert(status == LADE_OK || strstr(error.text, "out of memory") != NULL, "%s", error.text);
        failures += status != LADE_OK;
        lade_source_close(source);
        if (all_used)
            return failures;
    }
    return -1;
}

Test(memory, sources, .init = make_folder, .fini = remove_folder)
{
    static uint8_t cifar[2 * 3073];
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    static const char npy[] = "\x93NUMPY\1\0\x32\0{'descr':'|u1','fortran_order':False,'shape':(2,)}ab";

    put_file("test_batch.bin", cifar, sizeof cifar);
    put_file("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n", 20);
    put_file("idx", idx, sizeof idx);
    put_file("npy", npy, sizeof npy - 1);
    /* The text, the pools, the source around them, ... */
    cr_assert_geq(try_all("synthetic:count=5,shape=7,duplicates=1"), 5);
    cr_assert_geq(try_all("cifar10:@,part=test"), 4);
    cr_assert_geq(try_all("idx:@/idx,@/idx"), 5);
    cr_assert_geq(try_all("npy:@/npy,labels=@/npy"), 5);
    cr_assert_geq(try_all("npy:a=@/npy,label=@/npy"), 5);
    cr_assert_geq(try_all("records:@/idx,size=5,label=0:1"), 4);
    cr_assert_geq(try_all("tokens:@/idx,length=5,dtype=u8"), 4);
    cr_assert_geq(try_allocator_alone("synthetic:count=5,shape=7,duplicates=1", 2), 5);
    cr_assert_geq(try_allocator_alone("cifar10:@,part=test", 2), 5);
    cr_assert_geq(try_allocator_alone("idx:@/idx,@/idx", 2), 5);
    cr_assert_geq(try_allocator_alone("npy:@/npy,labels=@/npy", 2), 5);
    cr_assert_geq(try_allocator_alone("records:@/idx,size=5,label=0:1", 2), 4);
}

Test(memory, sources_by_function)
{
    int asks;

    cr_assert_eq(try_allocator(open_custom, 2, &asks), 1 + 2, "the source, and a sample for each label");
    cr_assert_eq(asks, 0);
    cr_assert_eq(try_allocator(open_array, 2, &asks), 2);
    cr_assert_eq(asks, 0);
    cr_assert_eq(try_allocator(open_synthetic, 2, &asks), 4, "two pools");
    cr_assert_eq(asks, 0);
}

/* Fields that are found, and fields that are declared. */
Test(memory, members, .init = make_folder, .fini = remove_folder)
{
    static struct blob file, features;

    for (int64_t i = 0; i < 2; i++) {
        add_bytes(&features, "x", "abcd", 4);
        add_integers(&features, "label", &i, 1, true);
        add_example(&file, &features);
    }
    put_file("a.tfrecord", file.data, file.size);
    file.size = 0;
    add_file(&file, "1.txt", "abcd");
    add_file(&file, "1.json", "{\"a\": 1}");
    add_file(&file, "2.txt", "abcd");
    add_file(&file, "2.json", "{\"a\": 1}");
    put_file("a.tar", file.data, file.size);
    cr_assert_geq(try_all("tfrecord:@/a.tfrecord"), 10);
    cr_assert_geq(try_all("tfrecord:@/a.tfrecord,@/a.tfrecord,field=x:u8:4,field=label"), 10);
    cr_assert_geq(try_all("tar:@/a.tar,field=txt:u8:4,field=json.a"), 10);
    cr_assert_geq(try_all("tar:@/a.tar"), 10);
    /* Without memory for an index the files are scanned. */
    for (int i = 0; i < 2; i++)
        cr_assert_geq(try_all("tar:@/a.tar,index=yes"), 3);
    cr_assert_geq(try_allocator_alone("tar:@/a.tar,field=txt:u8:4,index=yes", 2), 10);
}

#if defined LADE_PNG
Test(memory, images, .init = make_folder, .fini = remove_folder)
{
    /* One pixel, and the same once more. */
    static const uint8_t png[] = {137, 80,  78, 71, 13, 10,  26,  10, 0,  0,  0,  13,  73,  72, 68,  82, 0,  0,
                                  0,   1,   0,  0,  0,  1,   8,   2,  0,  0,  0,  144, 119, 83, 222, 0,  0,  0,
                                  12,  73,  68, 65, 84, 120, 156, 99, 72, 76, 74, 6,   0,   2,  78,  1,  39, 192,
                                  97,  158, 25, 0,  0,  0,   0,   73, 69, 78, 68, 174, 66,  96, 130};

    put_file("a/1.png", png, sizeof png);
    put_file("b/1.png", png, sizeof png);
    cr_assert_geq(try_all("images:@"), 8);
    cr_assert_geq(try_all("images:@,size=2x2"), 9);

    /* Opening with a size decodes nothing. */
    int index = try_allocator_alone("images:@,size=2x2", 0), asks, resized_asks;
    cr_assert_geq(index, 7, "the text, folder, names, entries, classes, and two for the source");
    /* A sample is its file, and if it is resized, its pixels and taps. All that is left is the codec's. */
    cr_assert_eq(try_allocator(open_text, 2, &resized_asks), index + 2 * 3);
    opened_text = "images:@,size=1x1";
    cr_assert_eq(try_allocator(open_text, 2, &asks), index + 2);
    cr_assert_eq(asks, resized_asks);
    cr_assert_gt(asks, 0);
}
#endif

Test(memory, pipeline)
{
    const struct lade_image image = {LADE_U8, LADE_HWC, 2, 2, 1};
    struct lade_pipeline *p;

    until_failure = 0;
    cr_assert_eq(lade_pipeline_create(&p, &image, NULL), LADE_NO_MEMORY);
    cr_assert_null(p);
    cr_assert_eq(lade_pipeline_create(&p, &image, NULL), LADE_OK);
    until_failure = 0;
    cr_assert_eq(lade_pipeline_resize(p, 1, 1), LADE_NO_MEMORY);
    until_failure = 0;
    cr_assert_eq(lade_pipeline_normalise(p, 1, (double[]){1}, (double[]){1}), LADE_NO_MEMORY);
    cr_assert_eq(lade_pipeline_output(p)->height, 2, "nothing was added");
    cr_assert_eq(lade_pipeline_scratch(p), 0);
    lade_pipeline_destroy(p);
}

/* Creates a pipeline with a table for each step. */
static int make_pipeline(struct lade_pipeline **p, const struct lade_alloc *alloc)
{
    const struct lade_image image = {LADE_U8, LADE_HWC, 2, 2, 1};
    int status = lade_pipeline_create(p, &image, alloc);

    if (status == LADE_OK)
        status = lade_pipeline_resize(*p, 1, 1);
    if (status == LADE_OK)
        status = lade_pipeline_normalise(*p, 1, (double[]){1}, (double[]){1});
    while (status == LADE_OK)
        status = lade_pipeline_resize(*p, 1, 1); /* the last is one too many */
    return status;
}

Test(memory, pipeline_with_an_allocator)
{
    int status = LADE_NO_MEMORY, n = 0;

    while (status == LADE_NO_MEMORY) {
        struct failing f = {.fail_at = ++n};
        const struct lade_alloc alloc = {failing_get, failing_put, &f};
        struct lade_pipeline *p;
        asked = 0;
        status = make_pipeline(&p, &alloc);
        cr_assert_eq(n == 1, p == NULL);
        lade_pipeline_destroy(p);
        cr_assert_eq(f.live, 0);
        cr_assert_eq(f.bytes, 0);
        cr_assert_eq(asked, 0);
    }
    cr_assert_eq(status, LADE_INVALID, "more than 32 steps");
    cr_assert_eq(n, 1 + 33 + 1, "the pipeline and each step, then none fails");
}

/* SPDX-License-Identifier: MIT */
/* Sources and pipelines without memory. */
#define _GNU_SOURCE
#include <lade/source.h>
#include <lade/transform.h>

#include "failing.h"
#include "files.h"

/* Opens and reads with the first, second, ... allocation failing, until none fails. The number of failures. */
static int try_all(const char *text)
{
    int failures = 0;

    for (int n = 0; n < 1000; n++) {
        static uint8_t to[4096];
        struct lade_source *source;
        struct lade_error error = {.text = "no text"};
        until_failure = n;
        int status = lade_source_open(&source, in_folder(text), &error);
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
    cr_assert_geq(try_all("records:@/idx,size=5,label=0:1"), 4);
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
    cr_assert_geq(try_all("images:@,size=2x2"), 10);
}
#endif

Test(memory, pipeline)
{
    const struct lade_image image = {LADE_U8, LADE_HWC, 2, 2, 1};
    struct lade_pipeline *p;

    until_failure = 0;
    cr_assert_eq(lade_pipeline_create(&p, &image), LADE_NO_MEMORY);
    cr_assert_null(p);
    cr_assert_eq(lade_pipeline_create(&p, &image), LADE_OK);
    until_failure = 0;
    cr_assert_eq(lade_pipeline_resize(p, 1, 1), LADE_NO_MEMORY);
    until_failure = 0;
    cr_assert_eq(lade_pipeline_normalise(p, 1, (double[]){1}, (double[]){1}), LADE_NO_MEMORY);
    cr_assert_eq(lade_pipeline_output(p)->height, 2, "nothing was added");
    cr_assert_eq(lade_pipeline_scratch(p), 0);
    lade_pipeline_destroy(p);
}

/* SPDX-License-Identifier: MIT */
/* Folders of images, which the codecs themselves write here. */
#define _GNU_SOURCE
#include <lade/source.h>

#include "files.h"

static void refused(const char *text, int status, const char *words)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), status, "%s", error.text);
    cr_assert(strstr(error.text, words) != NULL, "'%s' has no '%s'", error.text, words);
}

#if !defined LADE_JPEG && !defined LADE_PNG

Test(images, without_codecs_are_refused, .init = make_folder, .fini = remove_folder)
{
    refused("images:@", LADE_INVALID, "this build reads no images");
}

#elif defined LADE_JPEG && defined LADE_PNG
#include <spng.h>
#include <turbojpeg.h>

static struct lade_source *open_good(const char *text)
{
    struct lade_source *source;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_source_open(&source, in_folder(text), NULL, &error), LADE_OK, "%s: %s", text, error.text);
    return source;
}

static void put_png(const char *name, const uint8_t *rgb, uint32_t height, uint32_t width)
{
    spng_ctx *context = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr header = {
        .width = width, .height = height, .bit_depth = 8, .color_type = SPNG_COLOR_TYPE_TRUECOLOR};
    size_t size;
    int code;

    cr_assert_eq(spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1), 0);
    cr_assert_eq(spng_set_ihdr(context, &header), 0);
    cr_assert_eq(spng_encode_image(context, rgb, (size_t)3 * height * width, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
    void *bytes = spng_get_png_buffer(context, &size, &code);
    cr_assert_not_null(bytes);
    put_file(name, bytes, size);
    free(bytes);
    spng_ctx_free(context);
}

static void put_jpeg(const char *name, const uint8_t *rgb, int height, int width)
{
    tjhandle handle = tjInitCompress();
    unsigned char *bytes = NULL;
    unsigned long size = 0;

    cr_assert_eq(tjCompress2(handle, rgb, width, 0, height, TJPF_RGB, &bytes, &size, TJSAMP_444, 95, 0), 0);
    put_file(name, bytes, size);
    tjFree(bytes);
    tjDestroy(handle);
}

/* 2 x 2 pixels. */
static const uint8_t small[12] = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};

Test(images, classes_order_names_and_keys, .init = make_folder, .fini = remove_folder)
{
    static const char *const expected[] = {"a/2.png", "a/z/1.png", "a/z.PNG", "a-b/1.png", "c/1.png"};
    static const int64_t labels[] = {0, 0, 0, 1, 2};
    char name[64], tiny[4];
    int64_t label;
    uint8_t to[12];

    put_png("c/1.png", small, 2, 2);
    put_png("a-b/1.png", small, 2, 2);
    put_png("a/z/1.png", small, 2, 2);
    put_png("a/z.PNG", small, 2, 2);
    put_png("a/2.png", small, 2, 2);
    put_png("not-in-a-class.png", small, 2, 2);
    put_file("a/.hidden.png", "x", 1);
    put_file("a/readme.txt", "x", 1);
    struct lade_source *source = open_good("images:@");
    const struct lade_source_info *info = lade_source_info(source);
    cr_assert(info->count == 5 && info->classes == 3 && info->bytes == 12);
    cr_assert(info->shape.dim[0] == 2 && info->shape.dim[1] == 2 && info->shape.dim[2] == 3);
    cr_assert_str_eq(info->class_names[1], "a-b");
    /* 16 bytes and the name with its final zero, for each. */
    cr_assert_eq(info->index_bytes, 5 * 16 + 8 + 8 + 10 + 10 + 8);
    for (uint64_t i = 0; i < 5; i++) {
        lade_source_name(source, i, name, sizeof name);
        cr_assert_str_eq(name, expected[i]);
        cr_assert_eq(lade_source_read(source, i, to, &label, NULL), LADE_OK);
        cr_assert_arr_eq(to, small, 12);
        cr_assert_eq(label, labels[i]);
        cr_assert_eq(lade_source_label(source, i, &label, NULL), LADE_OK);
        cr_assert_eq(label, labels[i]);
    }
    cr_assert_eq(lade_source_key(source, 5), 5, "there is no such sample");
    lade_source_name(source, 0, tiny, sizeof tiny);
    cr_assert_str_eq(tiny, "a/2");
    /* FNV-1a of "a/2.png", computed independently. */
    cr_assert_eq(lade_source_key(source, 0), UINT64_C(0xf1a1e32de3046624));
    lade_source_close(source);
}

Test(images, without_classes, .init = make_folder, .fini = remove_folder)
{
    int64_t label = 5;
    uint8_t to[12];

    put_png("b.png", small, 2, 2);
    put_png("a.png", small, 2, 2);
    struct lade_source *source = open_good("images:@");
    cr_assert(lade_source_info(source)->count == 2 && lade_source_info(source)->classes == 0);
    cr_assert_eq(lade_source_read(source, 1, to, &label, NULL), LADE_OK);
    cr_assert_eq(label, LADE_NO_LABEL);
    lade_source_close(source);
}

static uint8_t *get_file(const char *name, size_t *size)
{
    char path[300];

    (void)snprintf(path, sizeof path, "%s/%s", files_folder, name);
    FILE *f = fopen(path, "rb");
    uint8_t *bytes = malloc(1 << 20);
    cr_assert(f && bytes);
    *size = fread(bytes, 1, 1 << 20, f);
    cr_assert_eq(fclose(f), 0);
    return bytes;
}

/*
 * Flips every bit of the pixels, their checksums and the rest: damage, or the same pixels. Flat areas hide most of the
 * first.
 */
Test(images, no_flipped_bit_goes_unnoticed, .init = make_folder, .fini = remove_folder)
{
    enum { SIDE = 12 };
    static uint8_t drawing[3 * SIDE * SIDE], to[sizeof drawing];
    size_t size;

    for (size_t i = 0; i < sizeof drawing; i++)
        drawing[i] = i < sizeof drawing / 2 ? (uint8_t)(i * 7) : 255;
    put_png("a.png", drawing, SIDE, SIDE);
    uint8_t *good = get_file("a.png", &size), *at = memmem(good, size, "IDAT", 4);
    cr_assert_not_null(at);
    for (size_t byte = (size_t)(at - good) + 4; byte < size; byte++)
        for (int bit = 0; bit < 8; bit++) {
            good[byte] ^= (uint8_t)(1 << bit);
            put_file("b.png", good, size);
            good[byte] ^= (uint8_t)(1 << bit);
            struct lade_source *source = open_good("images:@");
            int status = lade_source_read(source, 1, to, NULL, NULL);
            cr_assert_eq(status, LADE_DAMAGED, "byte %zu, bit %d: %d", byte, bit, status);
            lade_source_close(source);
        }
    free(good);
}

/* CMYK; with Adobe's marker it is inverted. */
static void put_cmyk(const char *name, const uint8_t *ink, bool adobe)
{
    tjhandle handle = tjInitCompress();
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    static const uint8_t marker[16] = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 0};

    cr_assert_eq(tjCompress2(handle, ink, 8, 0, 8, TJPF_CMYK, &bytes, &size, TJSAMP_444, 100, 0), 0);
    uint8_t *whole = malloc(size + sizeof marker), *app14 = memmem(bytes, size, "\xff\xee", 2);
    cr_assert(whole);
    memcpy(whole, bytes, size);
    if (adobe && !app14) { /* after SOI */
        memmove(whole + 2 + sizeof marker, whole + 2, size - 2);
        memcpy(whole + 2, marker, sizeof marker);
        size += sizeof marker;
    } else if (!adobe && app14) {
        const size_t from = (size_t)(app14 - bytes), length = 2 + ((size_t)app14[2] << 8 | app14[3]);
        memmove(whole + from, whole + from + length, size - from - length);
        size -= length;
    }
    put_file(name, whole, size);
    free(whole);
    tjFree(bytes);
    tjDestroy(handle);
}

Test(images, cmyk, .init = make_folder, .fini = remove_folder)
{
    static uint8_t ink[4 * 64], to[3 * 64];

    for (int inverted = 0; inverted < 2; inverted++) {
        for (size_t i = 0; i < 64; i++) /* no cyan, some magenta, much yellow, a little black */
            for (size_t c = 0; c < 4; c++) {
                static const uint8_t one[4] = {0, 64, 200, 32};
                ink[4 * i + c] = inverted ? (uint8_t)(255 - one[c]) : one[c];
            }
        put_cmyk("a.jpg", ink, inverted);
        struct lade_source *source = open_good("images:@");
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_source_read(source, 0, to, NULL, &error), LADE_OK, "%s", error.text);
        /* (255 - ink) * (255 - 32) / 255; without the marker the inks are those of the encoder: 195, 49, 171. */
        static const int expected[2][3] = {{53, 180, 73}, {223, 167, 48}};
        for (size_t i = 0; i < sizeof to; i++)
            cr_assert(abs(to[i] - expected[inverted][i % 3]) <= 3, "%d: %zu is %d", inverted, i, to[i]);
        lade_source_close(source);
    }
}

/* The first image does not decide the size if it cannot be read. */
Test(images, a_damaged_first_image, .init = make_folder, .fini = remove_folder)
{
    uint8_t to[12];
    struct lade_error error;

    put_file("a.png", "junk", 4);
    refused("images:@", LADE_DAMAGED, "a.png: is neither JPEG nor PNG");
    put_png("b.png", small, 2, 2);
    struct lade_source *source = open_good("images:@");
    cr_assert_eq(lade_source_info(source)->bytes, 12);
    cr_assert_eq(lade_source_read(source, 0, to, NULL, &error), LADE_DAMAGED);
    cr_assert_eq(lade_source_read(source, 1, to, NULL, &error), LADE_OK);
    lade_source_close(source);
}

/* Small files can be large images, and take many passes. */
Test(images, pixels_have_a_limit, .init = make_folder, .fini = remove_folder)
{
    static uint8_t flat[3 * 16 * 24];
    size_t size;

    put_png("a.png", flat, 16, 24);
    refused("images:@,pixels=383", LADE_LIMITED,
            "a.png: 16 x 24 pixels in 1 passes are beyond the limit of 383 pixels");
    refused("images:@,pixels=383", LADE_LIMITED, "pixels=N raises it");
    refused("images:@,pixels=0", LADE_INVALID, "pixels takes a number from 1");
    lade_source_close(open_good("images:@,pixels=384"));
    lade_source_close(open_good("images:pixels=384,@"));
    /* A JPEG whose only scan is repeated: headers give the number of passes before anything is decoded. */
    put_jpeg("b.jpg", flat, 16, 24);
    uint8_t *bytes = get_file("b.jpg", &size), *scan = memmem(bytes, size, "\xff\xda", 2);
    const size_t head = (size_t)(scan - bytes), length = size - 2 - head;
    for (size_t passes = 64; passes <= 65; passes++) {
        uint8_t *many = malloc(head + passes * length + 2);
        cr_assert(scan && many);
        memcpy(many, bytes, head);
        for (size_t i = 0; i < passes; i++)
            memcpy(many + head + i * length, scan, length);
        memcpy(many + head + passes * length, "\xff\xd9", 2);
        put_file("b.jpg", many, head + passes * length + 2);
        free(many);
        struct lade_source *source = open_good("images:@,pixels=384");
        struct lade_error error = {.text = ""};
        int status = lade_source_read(source, 1, flat, NULL, &error);
        cr_assert_eq(status == LADE_LIMITED, passes == 65, "%zu: %s", passes, error.text);
        lade_source_close(source);
    }
    free(bytes);
}

Test(images, jpeg, .init = make_folder, .fini = remove_folder)
{
    static uint8_t flat[3 * 16 * 24], to[sizeof flat];
    int64_t label;

    memset(flat, 77, sizeof flat);
    put_jpeg("one/a.jpg", flat, 16, 24);
    put_jpeg("two/a.jpeg", flat, 16, 24);
    struct lade_source *source = open_good("images:@");
    cr_assert(lade_source_info(source)->shape.dim[0] == 16 && lade_source_info(source)->shape.dim[1] == 24);
    cr_assert_eq(lade_source_read(source, 1, to, &label, NULL), LADE_OK);
    for (size_t i = 0; i < sizeof to; i++)
        cr_assert(to[i] >= 76 && to[i] <= 78);
    cr_assert_eq(label, 1);
    lade_source_close(source);
}

Test(images, of_other_sizes_are_scaled_or_reported, .init = make_folder, .fini = remove_folder)
{
    static const uint8_t wide[3 * 4] = {0, 0, 0, 40, 40, 40, 80, 80, 80, 120, 120, 120}; /* 1 x 4 */
    struct lade_error error;
    int64_t label;
    uint8_t to[12];

    put_png("x/a.png", small, 2, 2);
    put_png("x/b.png", wide, 1, 4);
    struct lade_source *source = open_good("images:@");
    cr_assert_eq(lade_source_read(source, 1, to, &label, &error), LADE_DAMAGED);
    cr_assert(strstr(error.text, "x/b.png: has 1 x 4 pixels, the first image 2 x 2; size=") != NULL);
    lade_source_close(source);
    source = open_good("images:@,size=1x2");
    cr_assert_eq(lade_source_info(source)->bytes, 6);
    /* Means of neighbours: of 0 and 40, of 80 and 120. */
    cr_assert_eq(lade_source_read(source, 1, to, &label, &error), LADE_OK);
    cr_assert_arr_eq(to, ((uint8_t[]){20, 20, 20, 100, 100, 100}), 6);
    /* Means down the columns: of 10 and 70, and so on. */
    cr_assert_eq(lade_source_read(source, 0, to, &label, &error), LADE_OK);
    cr_assert_arr_eq(to, ((uint8_t[]){40, 50, 60, 70, 80, 90}), 6);
    lade_source_close(source);
}

Test(images, damage_is_reported, .init = make_folder, .fini = remove_folder)
{
    static uint8_t noise[3 * 32 * 32], to[sizeof noise], file[8192];
    struct lade_error error;
    char path[128];
    int64_t label;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * i * 31 >> 3);
    put_jpeg("x/a.jpg", noise, 32, 32);
    put_png("x/b.png", noise, 32, 32);
    static const char *const names[] = {"x/a.jpg", "x/b.png"};
    for (int n = 0; n < 2; n++) {
        snprintf(path, sizeof path, "%s/%s", files_folder, names[n]);
        FILE *f = fopen(path, "rb");
        size_t size = fread(file, 1, sizeof file, f);
        fclose(f);
        cr_assert(size > 500 && size < sizeof file);
        put_file(names[n], file, size / 2);
    }
    put_file("x/c.png", "GIF89a", 6);
    put_file("x/d.png", "", 0);
    struct lade_source *source = open_good("images:@");
    static const char *const words[] = {"x/a.jpg: damaged JPEG: ", "x/b.png: damaged PNG: ",
                                        "x/c.png: is neither JPEG nor PNG: it begins with other bytes, at byte 0",
                                        "x/d.png: is empty"};
    for (uint64_t i = 0; i < 4; i++) {
        cr_assert_eq(lade_source_read(source, i, to, &label, &error), LADE_DAMAGED, "%d", (int)i);
        cr_assert(strstr(error.text, words[i]) != NULL, "%s", error.text);
    }
    lade_source_close(source);
}

Test(images, folders_that_cannot_be_read, .init = make_folder, .fini = remove_folder)
{
    refused("images:@", LADE_INVALID, "there is no .jpg, .jpeg or .png below");
    refused("images:@/nosuch", LADE_IO, "cannot be opened: No such file");
    refused("images:", LADE_INVALID, "the name of a folder is missing");
    refused("images:@,size=4", LADE_INVALID, "size takes HEIGHTxWIDTH");
    refused("images:@,size=4x99999", LADE_INVALID, "size takes HEIGHTxWIDTH");
    refused("images:@,sise=4x4", LADE_INVALID, "images: does not take 'sise=4x4'");
}

#else

Test(images, a_missing_codec_is_reported, .init = make_folder, .fini = remove_folder)
{
    put_file("x/a.png", "\x89PNG\r\n\x1a\n", 8);
    put_file("x/a.jpg", "\xff\xd8\xff", 3);
    struct lade_source *source;
    cr_assert_neq(lade_source_open(&source, in_folder("images:@"), NULL, NULL), LADE_OK);
    refused("images:@/nosuch", LADE_IO, "cannot be opened");
}

#endif

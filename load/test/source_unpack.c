/* SPDX-License-Identifier: MIT */
/* Members of tar that are compressed, and files of TFRecord and tar that are compressed as a whole. */
#define _GNU_SOURCE
#include "source_members.h"

#include "members.h"

#if defined LADE_ZLIB && defined LADE_ZSTD
#include <zlib.h>
#include <zstd.h>

static struct blob file, packed;

static void setup(void)
{
    make_folder();
    file.size = 0;
}

static void pack(const void *bytes, size_t size, bool zstd)
{
    packed.size = 0;
    if (zstd) {
        packed.size = ZSTD_compress(packed.data, sizeof packed.data, bytes, size, 3);
        cr_assert(!ZSTD_isError(packed.size));
        return;
    }
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (unsigned)size};
    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = packed.data;
    z.avail_out = sizeof packed.data;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.size = z.total_out;
    cr_assert_eq(deflateEnd(&z), Z_OK);
}

static void add_packed(const char *name, const char *text, bool zstd)
{
    pack(text, strlen(text), zstd);
    add_member(&file, name, '0', packed.data, packed.size);
}

Test(unpack, members, .init = setup, .fini = remove_folder)
{
    add_packed("1.txt.gz", "hello", false);
    add_packed("1.cls.zst", "3", true);
    add_packed("1.json.gz", " {\"a\": 1.5, \"b\": [1, 2]}", false);
    add_file(&file, "1.gz", "as is");
    add_packed("2.TXT.ZST", "", true);
    add_file(&file, "2.cls", "1");
    add_packed("2.json.zst", "{\"a\": 2.5, \"b\": [3, 4]}", true);
    add_file(&file, "2.gz", "it is");
    add_end(&file);
    put_file("a.tar", file.data, file.size);
    struct lade_source *source = open_file("tar:@/a.tar");
    check_field(source, 0, "gz", LADE_U8, 1, 5, 0);
    check_field(source, 1, "json.a", LADE_F64, 0, 0, 0);
    check_field(source, 2, "json.b", LADE_F64, 1, 2, 0);
    check_field(source, 3, "txt", LADE_U8, 0, 0, 5);
    check_field(source, 4, "cls", LADE_I64, 0, 0, 0);
    cr_assert_eq(lade_source_info(source)->classes, 4);
    has(source, 0, 0, "as is", 5);
    has(source, 0, 1, (double[]){1.5}, 8);
    has(source, 1, 2, (double[]){3, 4}, 16);
    has(source, 0, 3, "hello", 5);
    cr_assert_eq(steps_of(source, 1, 3), 0);
    has(source, 0, 4, (int64_t[]){3}, 8);
    lade_source_close(source);
}

Test(unpack, files, .init = setup, .fini = remove_folder)
{
    static struct blob features;
    static const char *const texts[] = {"tfrecord:@/a.tfrecord.gz", "tfrecord:@/a.tfrecord.zst", "tar:@/a.tar.gz",
                                        "tar:@/a.tar.zst"};

    for (int64_t i = 0; i < 3; i++) {
        add_integers(&features, "x", &i, 1, true);
        add_example(&file, &features);
    }
    for (int zstd = 0; zstd < 2; zstd++) {
        pack(file.data, file.size, zstd);
        put_file(zstd ? "a.tfrecord.zst" : "a.tfrecord.gz", packed.data, packed.size);
    }
    file.size = 0;
    for (int64_t i = 0; i < 3; i++)
        add_file(&file, ((const char *[]){"0.cls", "1.cls", "2.cls"})[i], ((const char *[]){"0", "1", "2"})[i]);
    for (int zstd = 0; zstd < 2; zstd++) {
        pack(file.data, file.size, zstd);
        put_file(zstd ? "a.tar.zst" : "a.tar.gz", packed.data, packed.size);
    }
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct lade_source *source = open_file(texts[t]);
        cr_assert_eq(lade_source_info(source)->count, 3, "%s", texts[t]);
        has(source, 2, 0, (int64_t[]){2}, 8);
        lade_source_close(source);
    }
    refuses("tar:@/a.tar.zst,unpacked=3071", LADE_LIMITED, 0, "unpacks to more than 3071 bytes; unpacked=N");
    lade_source_close(open_file("tar:@/a.tar.zst,unpacked=3072"));
    /* The limit is that of all files. */
    refuses("tar:@/a.tar.zst,@/a.tar.gz,unpacked=6143", LADE_LIMITED, 0, "unpacks to more than 3071 bytes");
    lade_source_close(open_file("tar:@/a.tar.zst,@/a.tar.gz,unpacked=6144"));
    refuses("tar:@/a.tar.gz,unpacked=0", LADE_INVALID, LADE_NO_OFFSET, "unpacked takes a number of bytes above 0");
}

/* A megabyte of zeros in a thousand bytes is refused before it is in memory, unless the limit is raised. */
Test(unpack, bombs, .init = setup, .fini = remove_folder)
{
    static const uint8_t zeros[1 << 20];

    for (int zstd = 0; zstd < 2; zstd++) {
        char text[64];
        struct lade_error error = {.text = ""};
        uint8_t bytes[5];
        file.size = 0;
        add_packed(zstd ? "1.txt.zst" : "1.txt.gz", "small", zstd);
        const uint64_t at = file.size + 512;
        pack(zeros, sizeof zeros, zstd);
        cr_assert_lt(packed.size, 2000);
        add_member(&file, zstd ? "2.txt.zst" : "2.txt.gz", '0', packed.data, packed.size);
        put_file("a.tar", file.data, file.size);
        struct lade_source *source = open_file("tar:@/a.tar,unpacked=1048575");
        has(source, 0, 0, "small", 5);
        cr_assert_eq(lade_source_read_fields(source, 1, &(struct lade_view){bytes, 0, 1}, &error), LADE_LIMITED,
                     "%d: %s", zstd, error.text);
        cr_assert_eq(error.offset, at);
        cr_assert_not_null(strstr(error.text, "unpacked=N raises the limit"), "%s", error.text);
        lade_source_close(source);
        (void)snprintf(text, sizeof text, "tar:@/a.tar,unpacked=%u", 1u << 20);
        source = open_file(text);
        cr_assert_eq(steps_of(source, 1, 0), 1 << 20);
        lade_source_close(source);
    }
}

/* Damage names the member, in which the place is. */
Test(unpack, damage, .init = setup, .fini = remove_folder)
{
    struct lade_error error;
    int64_t label;

    for (int zstd = 0; zstd < 2; zstd++) {
        const char *name = zstd ? "2.cls.zst" : "2.cls.gz";
        file.size = 0;
        add_packed(zstd ? "1.cls.zst" : "1.cls.gz", "0", zstd);
        const uint64_t at = file.size + 512;
        add_packed(name, "x", zstd);
        put_file("a.tar", file.data, file.size);
        struct lade_source *source = open_file("tar:@/a.tar,classes=2");
        cr_assert_eq(lade_source_label(source, 1, &label, &error), LADE_DAMAGED);
        cr_assert_eq(error.offset, at);
        cr_assert_not_null(
            strstr(error.text, "a.tar: the value is not a decimal integer, in bytes that are compressed, at byte"),
            "%s", error.text);
        lade_source_close(source);
        for (size_t size = 0; size < packed.size; size++) { /* cut anywhere */
            file.size = 0;
            add_file(&file, "1.cls", "0");
            add_member(&file, name, '0', packed.data, size);
            put_file("a.tar", file.data, file.size);
            source = open_file("tar:@/a.tar,classes=2");
            cr_assert_eq(lade_source_label(source, 1, &label, &error), LADE_DAMAGED, "%zu", size);
            cr_assert(error.offset >= 1024 + 512 && error.offset <= 1024 + 512 + size, "%s", error.text);
            lade_source_close(source);
        }
    }
}
#else
Test(unpack, without_codecs, .init = make_folder, .fini = remove_folder)
{
    put_file("a.tar.gz", "\x1f\x8b\x08\x00", 4);
    put_file("a.tar.zst", "\x28\xb5\x2f\xfd", 4);
#if !defined LADE_ZLIB
    refuses("tar:@/a.tar.gz", LADE_INVALID, 0, "made without zlib");
#endif
#if !defined LADE_ZSTD
    refuses("tar:@/a.tar.zst", LADE_INVALID, 0, "made without libzstd");
#endif
}
#endif

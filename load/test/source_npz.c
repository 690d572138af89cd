/* SPDX-License-Identifier: MIT */
/* npz, and files compressed by gzip. */
#define _GNU_SOURCE
#include "source_zip.h"

#include "members.h"

#if defined LADE_ZLIB
#include <zlib.h>

static const char floats[] =
    "\x93NUMPY\1\0\x34\0{'descr':'<f4','fortran_order':False,'shape':(2,1)} \0\0\x80\x3f\0\0\0\x40";
static const char labels[] = "\x93NUMPY\1\0\x32\0{'descr':'|u1','fortran_order':False,'shape':(2,)}\2\1";
static const char three[] = "\x93NUMPY\1\0\x32\0{'descr':'|u1','fortran_order':False,'shape':(3,)}abc";

static struct blob zip, directory;

static void setup(void)
{
    make_folder();
    zip.size = directory.size = 0;
}

/* window: -15 for deflate, 31 for gzip. */
static size_t pack(const void *bytes, size_t size, int window, uint8_t *to, size_t space)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)bytes, .avail_in = (unsigned)size};

    cr_assert_eq(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = to;
    z.avail_out = (unsigned)space;
    cr_assert_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    cr_assert_eq(deflateEnd(&z), Z_OK);
    return z.total_out;
}

static void add_array(const char *name, const char *bytes, size_t size, bool packed)
{
    static uint8_t room[1 << 12];
    const size_t at = zip.size, stored = packed ? pack(bytes, size, -15, room, sizeof room) : size;

    if (!packed)
        memcpy(room, bytes, size);
    for (unsigned n = 0; n < 2; n++) {
        struct blob *b = n ? &directory : &zip;
        add_number(b, n ? 0x02014b50 : 0x04034b50, 4);
        if (n)
            add_number(b, 20, 2);
        add_number(b, 20, 2);
        add_number(b, 0, 2);
        add_number(b, packed ? 8 : 0, 2);
        add_number(b, 0, 4);
        add_number(b, crc32(0, (const uint8_t *)bytes, (unsigned)size), 4);
        add_number(b, stored, 4);
        add_number(b, size, 4);
        add_number(b, strlen(name), 2);
        add_number(b, 0, 2);
        if (n) {
            add_number(b, 0, 2);
            add_number(b, 0, 8);
            add_number(b, at, 4);
        }
        add(b, name, strlen(name));
    }
    add(&zip, room, stored);
}

static void end_zip(const char *name)
{
    static struct blob whole;

    whole.size = 0;
    add(&whole, zip.data, zip.size);
    add(&whole, directory.data, directory.size);
    add_number(&whole, 0x06054b50, 4);
    add_number(&whole, 0, 4);
    add_number(&whole, 9, 2);
    add_number(&whole, directory.size / 50, 2); /* names have 4 to 9 characters */
    add_number(&whole, directory.size, 4);
    add_number(&whole, zip.size, 4);
    add_number(&whole, 0, 2);
    put_file(name, whole.data, whole.size);
}

Test(npz, arrays, .init = setup, .fini = remove_folder)
{
    for (int packed = 0; packed < 2; packed++) {
        zip.size = directory.size = 0;
        add_array("y.npy", labels, sizeof labels - 1, packed);
        add_array("x.npy", floats, sizeof floats - 1, packed);
        end_zip("a.npz");
        struct lade_source *source = open_file("npz:@/a.npz");
        float x;
        int64_t label;
        cr_assert_eq(lade_source_info(source)->count, 2);
        cr_assert_eq(lade_source_info(source)->classes, 3);
        check_field(source, 0, "x", LADE_F32, 1, 1, 0);
        check_field(source, 1, "y", LADE_U8, 0, 0, 0);
        has(source, 1, 0, (float[]){2}, 4);
        has(source, 0, 1, "\2", 1);
        cr_assert_eq(lade_source_read(source, 1, &x, &label, NULL), LADE_OK);
        cr_assert(x == 2 && label == 1);
        lade_source_close(source);
    }
}

Test(npz, chosen_arrays, .init = setup, .fini = remove_folder)
{
    add_array("a.npy", labels, sizeof labels - 1, false);
    add_array("b.npy", three, sizeof three - 1, false);
    add_array("text", "not an array", 12, false);
    end_zip("a.npz");
    refuses("npz:@/a.npz", LADE_DAMAGED, LADE_NO_OFFSET, "'a' has 2 samples, 'b' 3; field=NAME chooses arrays");
    struct lade_source *source = open_file("npz:@/a.npz,field=b");
    cr_assert_eq(lade_source_info(source)->count, 3);
    lade_source_close(source);
    refuses("npz:@/a.npz,field=c", LADE_INVALID, LADE_NO_OFFSET, "there is no array 'c'");
    refuses("npz:@/a.npz,field=a,label=b", LADE_INVALID, LADE_NO_OFFSET, "there is no array 'b'");
}

Test(npz, damage, .init = setup, .fini = remove_folder)
{
    static char large[5000];

    add_array("a.npy", labels, sizeof labels - 1, true);
    zip.data[14] ^= 1; /* the checksum beside the data is not used */
    directory.data[16] ^= 1;
    end_zip("a.npz");
    refuses("npz:@/a.npz", LADE_DAMAGED, 35, "size or checksum of array 'a.npy' is wrong");
    zip.size = directory.size = 0;
    add_array("a.npy", labels, sizeof labels - 1, false);
    zip.data[zip.size - 1] ^= 4; /* the second label, stored */
    end_zip("a.npz");
    refuses("npz:@/a.npz", LADE_DAMAGED, 35, "size or checksum of array 'a.npy' is wrong");
    refuses("npz:@/a.npz,check=maybe", LADE_INVALID, LADE_NO_OFFSET, "check is yes or no");
    struct lade_source *source = open_file("npz:@/a.npz,check=no");
    has(source, 1, 0, "\5", 1);
    lade_source_close(source);
    zip.size = directory.size = 0;
    memcpy(large, labels, sizeof labels);
    add_array("a.npy", large, sizeof large, true);
    end_zip("a.npz");
    refuses("npz:@/a.npz,unpacked=4999", LADE_LIMITED, 35, "unpacked=N raises the limit");
    refuses("npz:@/a.npz,unpacked=5000", LADE_DAMAGED, 35, "'a': has extra bytes after the last element");
    put_file("a.npz", zip.data, zip.size);
    refuses("npz:@/a.npz", LADE_DAMAGED, zip.size, "ends without the directory");
    put_file("a.npz", "something else", 14);
    refuses("npz:@/a.npz", LADE_DAMAGED, 0, "is not zip");
}

Test(gzip, idx_and_npy, .init = setup, .fini = remove_folder)
{
    static const uint8_t idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 5, 6};
    uint8_t packed[256], byte;
    int64_t label;
    size_t size = pack(idx, sizeof idx, 31, packed, sizeof packed);

    put_file("idx.gz", packed, size);
    struct lade_source *source = open_file("idx:@/idx.gz,@/idx.gz");
    cr_assert_eq(lade_source_read(source, 1, &byte, &label, NULL), LADE_OK);
    cr_assert(byte == 6 && label == 6);
    lade_source_close(source);
    refuses("idx:@/idx.gz,unpacked=9", LADE_LIMITED, 0, "unpacks to more than 9 bytes; unpacked=N");
    put_file("cut.gz", packed, size - 1);
    refuses("idx:@/cut.gz", LADE_DAMAGED, size - 1, "ends inside the compressed data");
    packed[size] = 0;
    put_file("more.gz", packed, size + 1);
    refuses("idx:@/more.gz", LADE_DAMAGED, size, "continues after the compressed data");
    packed[size - 5] ^= 1; /* the checksum */
    put_file("bad.gz", packed, size);
    refuses("idx:@/bad.gz", LADE_DAMAGED, size - 4, "incorrect data check");
    size = pack(labels, 30, 31, packed, sizeof packed); /* two members */
    size += pack(labels + 30, sizeof labels - 31, 31, packed + size, sizeof packed - size);
    put_file("npy.gz", packed, size);
    source = open_file("npy:@/npy.gz");
    cr_assert_eq(lade_source_info(source)->count, 2);
    lade_source_close(source);
}
#else
Test(gzip, without_zlib, .init = make_folder, .fini = remove_folder)
{
    put_file("idx.gz", "\x1f\x8b\x08", 3);
    refuses("idx:@/idx.gz", LADE_INVALID, 0, "made without zlib");
}
#endif

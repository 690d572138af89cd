/* SPDX-License-Identifier: MIT */
/* Files of splits: load gives exactly what was saved, and rejects everything else. */
#include "splits.h"

#include "../checksum.h"
#include "allocator.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static char path[] = "/tmp/lade-split-XXXXXX";

static void begin_file(void)
{
    int file = mkstemp(path);

    begin();
    cr_assert_geq(file, 0);
    cr_assert_eq(close(file), 0);
}

static void end_file(void)
{
    (void)unlink(path);
    end();
}

TestSuite(split_file, .init = begin_file, .fini = end_file);

static const uint32_t weights[] = {6, 3, 1};
static const uint64_t quota[] = {30, 20, 10, 3, 2, 1};
static const struct lade_split_config configs[] = {
    {.parts = 3, .weights = weights, .store = LADE_SPLIT_PURE, .seed = UINT64_C(0x123456789abcdef0)},
    {.parts = 2, .weights = weights, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = 20, .seed = 1},
    {.parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_ARRAYS, .capacity = 9, .bits_per_item = 64},
    {.parts = 3, .rule = LADE_SPLIT_QUOTA, .classes = 2, .quota = quota, .threads = 2, .seed = 5},
    {.parts = 3, .weights = weights, .rule = LADE_SPLIT_COIN, .content = LADE_SPLIT_DROP},
};
enum { CONFIGS = sizeof configs / sizeof *configs, KEYS = 12 };

static void fill(struct lade_split *s)
{
    for (uint64_t k = 0; k < KEYS; k++)
        (void)part_of_word(s, k);
}

static struct lade_split *load(void)
{
    struct lade_split *s = NULL;

    cr_assert_eq(lade_split_load(&s, path, NULL, NULL), LADE_OK);
    return s;
}

Test(split_file, what_was_decided_comes_back)
{
    for (int i = 0; i < CONFIGS; i++) {
        struct lade_split *s = make(configs[i]), *t;
        struct lade_split_config was, is;
        fill(s);
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        t = load();
        lade_split_get_config(s, &was);
        lade_split_get_config(t, &is);
        cr_assert(was.parts == is.parts && was.rule == is.rule && was.store == is.store && was.content == is.content);
        cr_assert(was.conflict == is.conflict && was.seed == is.seed && was.classes == is.classes);
        cr_assert(was.threads == is.threads && was.bits_per_item == is.bits_per_item);
        cr_assert_arr_eq(was.weights, is.weights, was.parts * sizeof *was.weights);
        for (uint64_t k = 0; k < KEYS; k++)
            cr_assert_eq(part_of_word(s, k), part_of_word(t, k));
        cr_assert(stats_of(s).keys == stats_of(t).keys && stats_of(s).entries == stats_of(t).entries);
        lade_split_destroy(s);
        lade_split_destroy(t);
    }
}

Test(split_file, tokens_are_those_that_are_left)
{
    struct lade_split *s = make(configs[3]);
    uint64_t count[3] = {0};
    unsigned part;

    fill(s);
    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    lade_split_destroy(s);
    s = load();
    uint64_t k = 0;
    for (; lade_split_route_word(s, k, &part) == LADE_OK; k++)
        count[part]++;
    cr_assert(k == 60 && count[0] == 30 && count[1] == 20 && count[2] == 10);
    lade_split_destroy(s);
}

static size_t read_file(unsigned char *bytes, size_t capacity)
{
    FILE *file = fopen(path, "rb");

    cr_assert_not_null(file);
    size_t size = fread(bytes, 1, capacity, file);
    (void)fclose(file);
    cr_assert_lt(size, capacity);
    return size;
}

static void write_file(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(bytes, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

Test(split_file, damage_is_found)
{
    static unsigned char bytes[8192];

    for (int i = 0; i < CONFIGS; i++) {
        struct lade_split *s = make(configs[i]), *t = NULL;
        struct lade_error error;
        fill(s);
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        lade_split_destroy(s);
        size_t size = read_file(bytes, sizeof bytes);
        for (size_t at = 0; at < size; at++) {
            bytes[at] ^= 0x10;
            write_file(bytes, size);
            error.offset = UINT64_MAX;
            cr_assert_eq(lade_split_load(&t, path, NULL, &error), LADE_DAMAGED, "%d, byte %zu of %zu", i, at, size);
            cr_assert(error.offset <= at && t == NULL);
            cr_assert(at < 56 ? error.offset == 0 : error.offset >= 56);
            bytes[at] ^= 0x10;
        }
        for (size_t cut = 0; cut < size; cut++) {
            write_file(bytes, cut);
            cr_assert_eq(lade_split_load(&t, path, NULL, &error), LADE_DAMAGED);
            cr_assert(error.offset <= cut && t == NULL);
        }
    }
}

/* The checksum is correct, the content is not: numbers out of range, as in a crafted file. */
Test(split_file, wrong_numbers_are_found)
{
    static const struct {
        int config, at;
        unsigned char value;
        int status;
    } wrong[] = {
        {0, 8, 2, LADE_INVALID},  {0, 10, 3, LADE_DAMAGED}, {0, 11, 4, LADE_DAMAGED}, {0, 12, 1, LADE_DAMAGED},
        {0, 13, 3, LADE_DAMAGED}, {0, 14, 2, LADE_DAMAGED}, {0, 15, 0, LADE_DAMAGED}, {0, 19, 1, LADE_DAMAGED},
        {1, 47, 1, LADE_DAMAGED}, {1, 44, 1, LADE_DAMAGED}, {2, 26, 1, LADE_DAMAGED}, {2, 46, 1, LADE_DAMAGED},
        {3, 18, 1, LADE_DAMAGED}, {3, 23, 1, LADE_DAMAGED}, {4, 40, 1, LADE_DAMAGED}, {1, 24, 9, LADE_DAMAGED},
    };
    static unsigned char bytes[8192];

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lade_split *s = make(configs[wrong[i].config]), *t = NULL;
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        lade_split_destroy(s);
        size_t size = read_file(bytes, sizeof bytes);
        bytes[wrong[i].at] = wrong[i].value;
        lade_write_number(bytes + 52, lade_crc32c(0, bytes, 52), 4);
        write_file(bytes, size);
        int status = lade_split_load(&t, path, NULL, NULL);
        cr_assert_eq(status, wrong[i].status, "%zu: %d", i, status);
        cr_assert_null(t);
    }
}

/* Words that no routing produces: seven entries in a filter, an item that is marked in both arrays. */
Test(split_file, wrong_words_are_found)
{
    static const uint64_t word[] = {0, UINT64_C(7) << 60, UINT64_C(0x100000001)};
    static unsigned char bytes[8192];

    for (int i = 1; i <= 2; i++) {
        struct lade_split *s = make(configs[i]), *t = NULL;
        struct lade_error error;
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        lade_split_destroy(s);
        size_t size = read_file(bytes, sizeof bytes);
        lade_write_number(bytes + 72, word[i], 8);
        /* header, lists, block: each checksum continues from the one before */
        uint32_t checksum = lade_crc32c(lade_crc32c(0, bytes, 52), bytes + 56, 8);
        lade_write_number(bytes + 68, lade_crc32c(checksum, bytes + 72, size - 72), 4);
        write_file(bytes, size);
        cr_assert_eq(lade_split_load(&t, path, NULL, &error), LADE_DAMAGED);
        cr_assert(t == NULL && error.offset == 68);
        lade_write_number(bytes + 72, 0, 8);
        lade_write_number(bytes + 68, lade_crc32c(checksum, bytes + 72, size - 72), 4);
        write_file(bytes, size);
        cr_assert_eq(lade_split_load(&t, path, NULL, &error), LADE_OK);
        lade_split_destroy(t);
    }
}

/* A file of four items in a filter, as every version and machine must write it. */
static const unsigned char golden[] = {
    0x6c, 0x61, 0x64, 0x65, 0x73, 0x70, 0x6c, 0x0a, 0x01, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x02,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x21, 0x47, 0xc0, 0x82, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x61, 0x2c, 0xb3, 0x37, 0xb2, 0xb5, 0x01, 0x27, 0x43, 0x60, 0xb1, 0xcd, 0xb9, 0x00, 0x00, 0x40,
};

Test(split_file, the_bytes_are_as_agreed)
{
    unsigned char bytes[256];
    struct lade_split *s = make((struct lade_split_config){
        .parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = 4, .seed = 7});

    for (uint64_t k = 0; k < 4; k++)
        (void)part_of_word(s, k);
    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    lade_split_destroy(s);
    size_t size = read_file(bytes, sizeof bytes);
    if (size != sizeof golden || memcmp(bytes, golden, size) != 0) {
        for (size_t i = 0; i < size; i++)
            fprintf(stderr, "0x%02x,%s", bytes[i], i % 16 == 15 ? "\n" : " ");
        cr_assert(false);
    }
}

Test(split_file, nothing_may_follow)
{
    for (int i = 0; i < CONFIGS; i++) {
        struct lade_split *s = make(configs[i]), *t = NULL;
        struct lade_error error;
        fill(s);
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        FILE *file = fopen(path, "ab");
        cr_assert(file);
        const long end_at = ftell(file);
        cr_assert(fputc('x', file) == 'x' && fclose(file) == 0);
        cr_assert_eq(lade_split_load(&t, path, NULL, &error), LADE_DAMAGED);
        cr_assert(t == NULL && error.offset == (uint64_t)end_at, "%d: %s", i, error.text);
        lade_split_destroy(s);
    }
}

/* What comes through a pipe has no size beforehand. */
Test(split_file, through_a_pipe)
{
    enum { N = 2000000 };
    struct lade_split *s = make((struct lade_split_config){
                          .parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = N}),
                      *t = NULL;
    char command[100], from[40];

    fill(s);
    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    (void)snprintf(command, sizeof command, "cat %s", path);
    FILE *pipe = popen(command, "r");
    cr_assert(pipe);
    (void)snprintf(from, sizeof from, "/dev/fd/%d", fileno(pipe));
    cr_assert_eq(lade_split_load(&t, from, NULL, NULL), LADE_OK);
    cr_assert_eq(pclose(pipe), 0);
    for (uint64_t k = 0; k < KEYS; k++)
        cr_assert_eq(part_of_word(t, k), part_of_word(s, k));
    lade_split_destroy(s);
    lade_split_destroy(t);
}

/* A short file that requests gigabytes. */
Test(split_file, what_is_not_there_costs_nothing)
{
    struct lade_split *s = make(configs[2]), *t = NULL;
    struct failing failing = {.most = 1 << 20};
    struct lade_alloc alloc = {failing_get, failing_put, &failing};
    unsigned char header[68]; /* and the weights; a checksum after each */

    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    for (unsigned bits = 0; bits < 8; bits++) {
        FILE *file = fopen(path, "r+b");
        cr_assert(file && fread(header, 1, sizeof header, file) == sizeof header);
        header[24] = (unsigned char)bits;
        lade_write_number(header + 40, UINT64_C(1) << 30, 8);
        rewind(file);
        lade_write_number(header + 52, lade_crc32c(0, header, 52), 4);
        lade_write_number(header + 64, lade_crc32c(lade_crc32c(0, header, 52), header + 56, 8), 4);
        cr_assert(fwrite(header, 1, sizeof header, file) == sizeof header && fclose(file) == 0);
        cr_assert_eq(lade_split_load(&t, path, &alloc, NULL), LADE_DAMAGED, "%u", bits);
        cr_assert_eq(failing.live, 0);
    }
    lade_split_destroy(s);
}

/* A short file whose checksums are right, with quotas of 2^29 tokens. */
Test(split_file, tokens_have_a_limit)
{
    const uint64_t few[] = {2, 3};
    struct lade_split *s = make(
                          (struct lade_split_config){.parts = 2, .rule = LADE_SPLIT_QUOTA, .classes = 1, .quota = few}),
                      *t = NULL;
    struct failing failing = {.most = 1 << 20};
    struct lade_alloc alloc = {failing_get, failing_put, &failing};
    enum { LISTS = 56, WEIGHTS = 8, NUMBERS = 4 * 8 };
    unsigned char head[LISTS + WEIGHTS + NUMBERS + 4];

    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    lade_split_destroy(s);
    /* Just enough, and one byte less. */
    const uint64_t needed = 5 * 9 + 9 * 1024;
    cr_assert_eq(lade_split_load_limited(&t, path, needed, &alloc, NULL), LADE_OK);
    cr_assert_leq(failing.bytes, needed + 4096); /* and the split itself */
    lade_split_destroy(t);
    cr_assert_eq(lade_split_load_limited(&t, path, needed - 1, &alloc, NULL), LADE_LIMITED);
    cr_assert_eq(failing.live, 0);

    FILE *file = fopen(path, "r+b");
    cr_assert(file && fread(head, 1, sizeof head, file) == sizeof head);
    for (int i = 0; i < 4; i++)
        lade_write_number(head + LISTS + WEIGHTS + 8 * i, UINT64_C(1) << 28, 8);
    uint32_t crc = lade_crc32c(lade_crc32c(0, head, 52), head + LISTS, WEIGHTS + NUMBERS);
    lade_write_number(head + sizeof head - 4, crc, 4);
    rewind(file);
    cr_assert(fwrite(head, 1, sizeof head, file) == sizeof head && fclose(file) == 0);
    cr_assert_eq(lade_split_load(&t, path, &alloc, NULL), LADE_LIMITED);
    cr_assert_eq(failing.live, 0);
}

Test(split_file, a_file_takes_little)
{
    enum { N = 50000 };
    struct lade_split *s = make((struct lade_split_config){.parts = 2, .rule = LADE_SPLIT_COIN});
    FILE *file;

    for (uint64_t k = 0; k < N; k++)
        (void)part_of_word(s, k);
    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    lade_split_destroy(s);
    file = fopen(path, "rb");
    cr_assert(file && fseek(file, 0, SEEK_END) == 0);
    cr_assert_leq((double)ftell(file) / N, 16.2);
    (void)fclose(file);
}

Test(split_file, trouble)
{
    struct lade_split *s = make(configs[3]), *t = NULL;
    struct lade_error error = {.offset = 1};

    cr_assert_eq(lade_split_save(s, "/nowhere/at/all", &error), LADE_IO);
    cr_assert_eq(errno, ENOENT);
    cr_assert_str_eq(error.text, "/nowhere/at/all: cannot be written: No such file or directory");
    cr_assert_eq(lade_split_load(&t, "/nowhere/at/all", NULL, &error), LADE_IO);
    cr_assert(errno == ENOENT && t == NULL && error.offset == LADE_NO_OFFSET);
    cr_assert_str_eq(error.text, "/nowhere/at/all: cannot be opened: No such file or directory");
    cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
    for (int fail_at = 1;; fail_at++) {
        struct failing failing = {.fail_at = fail_at};
        struct lade_alloc alloc = {failing_get, failing_put, &failing};
        int status = lade_split_load(&t, path, &alloc, NULL);
        if (status == LADE_OK)
            lade_split_destroy(t);
        cr_assert_eq(failing.live, 0);
        if (status == LADE_OK)
            break;
        cr_assert_eq(status, LADE_NO_MEMORY);
    }
    lade_split_destroy(s);
}

/* At allocation number at, another file replaces the one that is loaded, or overwrites it. */
struct disturbing {
    struct failing all;
    int at;
    bool over;
    const unsigned char *bytes;
    size_t size;
};

static void *disturbing_get(void *context, size_t size, size_t align)
{
    struct disturbing *d = context;

    if (d->all.calls + 1 == d->at && d->over) {
        FILE *file = fopen(path, "r+b");
        cr_assert(file && fwrite(d->bytes, 1, d->size, file) == d->size && fclose(file) == 0);
    } else if (d->all.calls + 1 == d->at) {
        char aside[sizeof path + 4];
        (void)snprintf(aside, sizeof aside, "%s.new", path);
        FILE *file = fopen(aside, "wb");
        cr_assert(file && fwrite(d->bytes, 1, d->size, file) == d->size && fclose(file) == 0);
        cr_assert_eq(rename(aside, path), 0);
    }
    return failing_get(&d->all, size, align);
}

static bool is_same(struct lade_split *s, struct lade_split *t)
{
    struct lade_split_config one, two;

    lade_split_get_config(s, &one);
    lade_split_get_config(t, &two);
    bool same = one.seed == two.seed && stats_of(s).keys == stats_of(t).keys;
    for (uint64_t k = 0; same && k < KEYS; k++)
        same = part_of_word(s, k) == part_of_word(t, k);
    return same;
}

/*
 * A load reads the file piece by piece, and allocates in between. The file that it opened is loaded completely,
 * whatever happens to its name during the load. Two files mixed are reported as damage, except where the table of an
 * exact split begins: it has separate checksums.
 */
Test(split_file, is_replaced_while_it_is_loaded)
{
    static unsigned char bytes[2][8192];
    unsigned damaged = 0;

    for (int i = 0; i < 2 * CONFIGS; i++) {
        struct lade_split_config other = configs[i / 2];
        if (i % 2 && other.store == LADE_SPLIT_EXACT)
            continue;
        other.seed += 77;
        struct lade_split *s = make(configs[i / 2]), *u = make(other), *t = NULL;
        fill(s);
        fill(u);
        cr_assert_eq(lade_split_save(u, path, NULL), LADE_OK);
        size_t new_size = read_file(bytes[1], sizeof bytes[1]);
        cr_assert_eq(lade_split_save(s, path, NULL), LADE_OK);
        size_t size = read_file(bytes[0], sizeof bytes[0]);
        for (int at = 1;; at++) {
            struct disturbing d = {.at = at, .over = i % 2, .bytes = bytes[1], .size = new_size};
            struct lade_alloc alloc = {disturbing_get, failing_put, &d};
            write_file(bytes[0], size);
            int status = lade_split_load(&t, path, &alloc, NULL);
            cr_assert(status == LADE_OK || (d.over && status == LADE_DAMAGED), "%d: %d", at, status);
            damaged += status == LADE_DAMAGED;
            if (status == LADE_OK) {
                cr_assert(is_same(t, s), "configuration %d, allocation %d", i / 2, at);
                lade_split_destroy(t);
            }
            cr_assert_eq(d.all.live, 0);
            if (d.all.calls < at)
                break;
        }
        lade_split_destroy(s);
        lade_split_destroy(u);
    }
    cr_assert_gt(damaged, 0, "nothing was mixed");
}

/* SPDX-License-Identifier: MIT */
/* Saving tables: the bytes, the files, and what happens when a file cannot be written. */
#include "folder.h"

#include "../table.h"
#include "table_stream.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const enum lade_table_kind kinds[] = {LADE_TABLE_WORDS, LADE_TABLE_BYTES};

static void begin(void)
{
    enter_thread();
    enter_folder();
}

static void end(void)
{
    leave_folder();
    leave_thread();
}

/* Hashes that keep the order of the keys, so that the order of the entries is known. */
static uint64_t same(void *context, uint64_t key)
{
    (void)context;
    return key;
}

static uint64_t first_bytes(void *context, const void *key, size_t size)
{
    uint64_t hash = 0;

    (void)context;
    for (size_t i = 0; i < 8; i++)
        hash = hash << 8 | (i < size ? ((const unsigned char *)key)[i] : 0);
    return hash / 2 + 1; /* not one of the words that a table may treat differently */
}

static const struct lade_table_hash in_order = {same, same, first_bytes, NULL};

static struct lade_table *ordered_table(enum lade_table_kind kind)
{
    struct lade_table_config config = {.kind = kind, .hash = &in_order};
    struct lade_table *table = NULL;

    cr_assert_eq(lade_table_create(&table, &config), LADE_OK);
    return table;
}

/* Files that were written once can be read forever: these bytes do not change while VERSION is 1. */
static const unsigned char golden_words[] = {
    0x6c, 0x61, 0x64, 0x65, 0x74, 0x61, 0x62, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xb3, 0x0c,
    0xc4, 0x7c, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xed, 0x48, 0xa9, 0xd1, 0xdd, 0xb8, 0x18, 0xd5,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xef, 0xcd,
    0xab, 0x89, 0x67, 0x45, 0x23, 0x41, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x10, 0x32, 0x54, 0x76,
    0x98, 0xba, 0xdc, 0xfe, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xe3, 0x35, 0x6c, 0x57, 0xdc, 0x3e, 0x0c, 0x9b, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
static const unsigned char golden_bytes[] = {
    0x6c, 0x61, 0x64, 0x65, 0x74, 0x61, 0x62, 0x0a, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0xaa, 0x67,
    0xf4, 0x93, 0x03, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0xa0, 0x1b, 0x6d, 0xd5, 0x78, 0xee, 0xe2, 0xb3,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x88, 0x77,
    0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0x63, 0x61, 0x74, 0x05, 0x00, 0x00, 0x00, 0xfd, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0x7f, 0x64, 0x6f, 0x67, 0x20, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe3, 0x35,
    0x6c, 0x57, 0x8c, 0xe1, 0xba, 0xce, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
static const uint64_t golden_keys[] = {UINT64_C(1) << 60, UINT64_C(0x4123456789abcdef), UINT64_C(0xfedcba9876543210)};
static const uint64_t golden_values[] = {0, UINT64_C(0x1122334455667788), LADE_TABLE_VALUE_MAX};
static const char *const golden_strings[] = {"", "cat", "dog \xff"};

static struct lade_table *golden_table(enum lade_table_kind kind)
{
    struct lade_table *table = ordered_table(kind);

    for (size_t i = 0; i < 3; i++) {
        const char *string = golden_strings[i];
        cr_assert_eq(kind == LADE_TABLE_WORDS
                         ? lade_table_insert(table, golden_keys[i], golden_values[i], NULL)
                         : lade_table_insert_bytes(table, string, strlen(string), golden_values[i], NULL),
                     LADE_OK);
    }
    return table;
}

Test(table_save, the_bytes_are_as_agreed, .init = begin, .fini = end)
{
    for (size_t k = 0; k < 2; k++) {
        const unsigned char *golden = k == 0 ? golden_words : golden_bytes;
        size_t size = k == 0 ? sizeof golden_words : sizeof golden_bytes;
        struct lade_table *table = golden_table(kinds[k]);
        cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
        cr_assert(file_is("table", golden, size));
        lade_table_destroy(table);
    }
}

Test(table_save, old_files_can_be_read, .init = begin, .fini = end)
{
    for (size_t k = 0; k < 2; k++) {
        size_t size = k == 0 ? sizeof golden_words : sizeof golden_bytes;
        struct lade_table *table = make_table(kinds[k]);
        uint64_t value = 0;
        write_file("table", k == 0 ? golden_words : golden_bytes, size);
        cr_assert_eq(lade_table_load(table, "table", NULL), LADE_OK);
        cr_assert_eq(keys_of(table), 3);
        for (size_t i = 0; i < 3; i++) {
            const char *string = golden_strings[i];
            cr_assert_eq(k == 0 ? lade_table_get(table, golden_keys[i], &value)
                                : lade_table_get_bytes(table, string, strlen(string), &value),
                         LADE_OK);
            cr_assert_eq(value, golden_values[i]);
        }
        lade_table_destroy(table);
    }
}

/* A next array that is too small, and no memory for a larger one: the table cannot be scanned. */
Test(table_save, a_move_that_cannot_continue_leaves_the_file, .init = begin, .fini = end)
{
    struct lade_table_config config = {.reserve = 1000, .seeded = true};
    struct lade_table *table = NULL, *again = make_table(LADE_TABLE_WORDS);
    uint64_t value = 0;

    cr_assert_eq(lade_table_create(&table, &config), LADE_OK);
    for (uint64_t i = 0; i < 1000; i++)
        cr_assert_eq(lade_table_insert(table, i, i, NULL), LADE_OK);
    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
    lade_rcu_read_lock();
    cr_assert(lade_table_grow(table, root_of(table), LADE_TABLE_FIRST, true));
    lade_rcu_read_unlock();
    table->config.max_bytes = 1;
    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_NO_MEMORY);
    cr_assert_eq(lade_table_stats(table, &(struct lade_table_stats){0}), LADE_NO_MEMORY);
    cr_assert_eq(lade_table_load(again, "table", NULL), LADE_OK);
    cr_assert_eq(keys_of(again), 1000);
    for (uint64_t i = 0; i < 1000; i++)
        cr_assert(lade_table_get(table, i, &value) == LADE_OK && value == i);
    table->config.max_bytes = 0;
    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
    lade_table_destroy(table);
    lade_table_destroy(again);
}

Test(table_save, no_table, .init = begin, .fini = end)
{
    write_file("table", "old", 3);
    cr_assert_eq(lade_table_save(NULL, "table", NULL), LADE_INVALID);
    cr_assert(file_is("table", (const unsigned char *)"old", 3));
    cr_assert_eq(lade_table_load(NULL, "table", NULL), LADE_INVALID);
}

Test(table_save, is_restored_unchanged, .init = begin, .fini = end)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 64, 4095, 4096, 4097, 8192, 20000};

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            struct lade_table *from = filled_table(kinds[k], counts[i]), *to = make_table(kinds[k]);
            uint64_t blocks = (counts[i] + WORDS_IN_BLOCK - 1) / WORDS_IN_BLOCK;
            cr_assert_eq(lade_table_save(from, "table", NULL), LADE_OK);
            cr_assert_eq(lade_table_load(to, "table", NULL), LADE_OK);
            check_filled(to, kinds[k], counts[i]);
            check_filled(from, kinds[k], counts[i]);
            struct stat file;
            cr_assert_eq(stat("table", &file), 0);
            if (k == 0)
                cr_assert_eq((uint64_t)file.st_size, HEADER + blocks * HEAD + counts[i] * 16 + END);
            if (k == 0 && counts[i] >= 64)
                cr_assert_leq((uint64_t)file.st_size, counts[i] * 20);
            cr_assert_eq(files_in(".", false), 1);
            lade_table_destroy(from);
            lade_table_destroy(to);
        }
}

/* Keys about as large as a block, and much larger ones; the first, the last, and between small ones. */
Test(table_save, large_strings, .init = begin, .fini = end)
{
    static const size_t sizes[] = {0, 1, 65523, 65524, 65525, 65536, 131071, 131072, 131073, 1000000, 5};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    unsigned char *key = malloc(1000000);
    struct lade_table *from = ordered_table(LADE_TABLE_BYTES), *to = make_table(LADE_TABLE_BYTES);
    uint64_t value = 0;

    cr_assert_not_null(key);
    for (size_t i = 0; i < SIZES; i++) {
        memset(key, (int)i * 7, sizes[i]);
        cr_assert_eq(lade_table_insert_bytes(from, key, sizes[i], i, NULL), LADE_OK);
    }
    cr_assert_eq(lade_table_save(from, "table", NULL), LADE_OK);
    cr_assert_eq(lade_table_load(to, "table", NULL), LADE_OK);
    cr_assert_eq(keys_of(to), SIZES);
    for (size_t i = 0; i < SIZES; i++) {
        memset(key, (int)i * 7, sizes[i]);
        cr_assert_eq(lade_table_get_bytes(to, key, sizes[i], &value), LADE_OK);
        cr_assert_eq(value, i);
    }
    free(key);
    lade_table_destroy(from);
    lade_table_destroy(to);
}

Test(table_save, a_write_that_fails_ends_it, .init = begin, .fini = end)
{
    for (size_t k = 0; k < 2; k++) {
        struct lade_table *table = filled_table(kinds[k], 9000);
        struct stream s;
        struct lade_sink sink = {stream_put, &s};
        write_stream(table, &s);
        int calls = s.calls;
        cr_assert_geq(calls, 5);
        for (int fail = 1; fail <= calls; fail++) {
            free(s.bytes);
            s = (struct stream){.fail_at = fail};
            cr_assert_eq(lade_table_write(table, &sink), LADE_IO);
            cr_assert_eq(s.calls, fail, "no write after one that failed");
        }
        free(s.bytes);
        check_filled(table, kinds[k], 9000);
        lade_table_destroy(table);
    }
}

/* The disk is full after each possible number of bytes; the system reports it by a partial last write. */
Test(table_save, a_full_disk_leaves_the_old_file, .init = begin, .fini = end)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    for (size_t k = 0; k < 2; k++) {
        struct lade_table *old = filled_table(kinds[k], 2), *table = filled_table(kinds[k], 7);
        unsigned char bytes[1000];
        int files = open_files();
        cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
        size_t whole = read_file("table", bytes, sizeof bytes);
        cr_assert_eq(lade_table_save(old, "table", NULL), LADE_OK);
        size_t size = read_file("table", bytes, sizeof bytes);
        for (limit.rlim_cur = 0; limit.rlim_cur < whole; limit.rlim_cur++) {
            cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
            errno = 0;
            cr_assert_eq(lade_table_save(table, "table", NULL), LADE_IO);
            cr_assert_eq(errno, EFBIG);
            cr_assert(file_is("table", bytes, size));
            cr_assert_eq(files_in(".", false), 1);
            cr_assert_eq(open_files(), files);
        }
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK, "exactly enough");
        limit.rlim_cur = before;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
        cr_assert_eq(unlink("table"), 0);
        lade_table_destroy(old);
        lade_table_destroy(table);
    }
}

Test(table_save, a_device_without_space, .init = begin, .fini = end)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 10);
    struct lade_file full = {.directory = -1};
    struct lade_sink sink = {lade_file_put, &full};

    full.file = open("/dev/full", O_WRONLY);
    cr_assert_geq(full.file, 0);
    cr_assert_eq(lade_table_write(table, &sink), LADE_IO);
    cr_assert_eq(errno, ENOSPC);
    (void)close(full.file);
    lade_table_destroy(table);
}

Test(table_save, files_that_cannot_be_read, .init = begin, .fini = end)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 10), *to = make_table(LADE_TABLE_WORDS);
    struct lade_table *other = make_table(LADE_TABLE_BYTES);
    struct lade_error error = {.offset = 9};
    int files = open_files();

    cr_assert_eq(lade_table_load(to, "none", &error), LADE_IO);
    cr_assert_eq(errno, ENOENT);
    cr_assert(error.status == LADE_IO && error.offset == LADE_NO_OFFSET);
    cr_assert_str_eq(error.text, "none: cannot be read: No such file or directory");
    cr_assert_eq(lade_table_load(to, "none", NULL), LADE_IO);
    cr_assert_eq(lade_table_load(to, ".", &error), LADE_IO);
    cr_assert_eq(errno, EISDIR);
    cr_assert_eq(lade_table_save(table, "none/table", &error), LADE_IO);
    cr_assert_eq(errno, ENOENT);
    cr_assert_str_eq(error.text, "none/table: cannot be written: No such file or directory");
    cr_assert_eq(lade_table_save(table, ".", NULL), LADE_IO);
    cr_assert_eq(errno, EISDIR);
    write_file("empty", "", 0);
    cr_assert_eq(lade_table_load(to, "empty", &error), LADE_DAMAGED);
    cr_assert(error.status == LADE_DAMAGED && error.offset == 0 &&
              strstr(error.text, "empty: not a file of this kind"));
    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
    cr_assert_eq(lade_table_load(other, "table", &error), LADE_INVALID);
    cr_assert(error.offset == 0 && strstr(error.text, "table: ") && strstr(error.text, "other kind"));
    cr_assert_eq(keys_of(to) + keys_of(other), 0);
    cr_assert_eq(open_files(), files);
    lade_table_destroy(table);
    lade_table_destroy(to);
    lade_table_destroy(other);
}

/* What follows the end is not what save wrote; the entries before it are in. */
Test(table_save, more_than_a_table, .init = begin, .fini = end)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 10), *to = make_table(LADE_TABLE_WORDS);
    unsigned char bytes[1000] = {0};
    struct lade_error error;

    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
    size_t size = read_file("table", bytes, sizeof bytes - 1);
    bytes[size] = 0;
    write_file("table", bytes, size + 1);
    cr_assert_eq(lade_table_load(to, "table", &error), LADE_DAMAGED);
    cr_assert_eq(error.offset, size);
    check_filled(to, LADE_TABLE_WORDS, 10);
    lade_table_destroy(table);
    lade_table_destroy(to);
}

/* The size of a pipe is not known before it is read. */
Test(table_save, from_a_pipe, .init = begin, .fini = end)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 100), *to = make_table(LADE_TABLE_WORDS);
    char path[64];
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    struct lade_file f = {.file = ends[1], .directory = -1};
    struct lade_sink sink = {lade_file_put, &f};
    cr_assert_eq(lade_table_write(table, &sink), LADE_OK);
    (void)close(ends[1]);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
    cr_assert_eq(lade_table_load(to, path, NULL), LADE_OK);
    check_filled(to, LADE_TABLE_WORDS, 100);
    (void)close(ends[0]);
    lade_table_destroy(table);
    lade_table_destroy(to);
}

/* Into a table with the same seed, in the order of the hashes: cells for all entries are reserved at once. */
Test(table_save, growth_at_once, .init = begin, .fini = end)
{
    struct lade_table *from = filled_table(LADE_TABLE_WORDS, 20000), *to = make_table(LADE_TABLE_WORDS);
    struct lade_table_stats stats;

    cr_assert_eq(lade_table_save(from, "table", NULL), LADE_OK);
    cr_assert_eq(lade_table_load(to, "table", NULL), LADE_OK);
    lade_table_stats(to, &stats);
    cr_assert_eq(stats.keys, 20000);
    cr_assert_eq(stats.growths, 1);
    lade_table_destroy(from);
    lade_table_destroy(to);
}

/* A file with holes whose end requests more than any table has: nothing is reserved for that. */
Test(table_save, what_to_expect, .init = begin, .fini = end)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 5000);
    unsigned char number[8];
    struct lade_file f;

    cr_assert_eq(lade_table_save(table, "table", NULL), LADE_OK);
    cr_assert_eq(lade_file_open(&f, "table"), LADE_OK);
    cr_assert_eq(lade_table_expected(&f), 5000);
    lade_file_drop(&f);
    lade_write_number(number, UINT64_C(1) << 50, 8);
    write_file("hole", number, 8);
    cr_assert_eq(truncate("hole", (off_t)1 << 40), 0);
    FILE *hole = fopen("hole", "ab");
    cr_assert_not_null(hole);
    cr_assert_eq(fwrite(number, 1, 8, hole), 8);
    cr_assert_eq(fclose(hole), 0);
    cr_assert_eq(lade_file_open(&f, "hole"), LADE_OK);
    cr_assert_lt(lade_table_expected(&f), 1 << 20);
    lade_file_drop(&f);
    lade_table_destroy(table);
}

/* Other threads insert during the save: all earlier entries are in the file, and the file is complete. */
struct others {
    struct lade_table *table;
    atomic_bool stop;
    atomic_uint inserted;
};

static void *insert_more(void *context)
{
    struct others *o = context;

    enter_thread();
    for (uint64_t n = 10000; n < 200000 && !atomic_load(&o->stop); n++) {
        cr_assert_eq(put_entry(o->table, LADE_TABLE_WORDS, n, value_of(n)), LADE_OK);
        atomic_fetch_add(&o->inserted, 1);
    }
    atomic_store(&o->stop, true);
    leave_thread();
    return NULL;
}

Test(table_save, while_others_insert, .init = begin, .fini = end)
{
    struct others o = {.table = filled_table(LADE_TABLE_WORDS, 10000)};
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, insert_more, &o), 0);
    for (int round = 0; round < 5; round++) {
        struct lade_table *to = make_table(LADE_TABLE_WORDS);
        unsigned before = atomic_load(&o.inserted);
        while (atomic_load(&o.inserted) < before + 100 && !atomic_load(&o.stop))
            sched_yield();
        cr_assert_eq(lade_table_save(o.table, "table", NULL), LADE_OK);
        cr_assert_eq(lade_table_load(to, "table", NULL), LADE_OK);
        for (uint64_t n = 0; n < 10000 + before; n++)
            cr_assert(has_entry(to, LADE_TABLE_WORDS, n, value_of(n)));
        lade_table_destroy(to);
    }
    atomic_store(&o.stop, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    lade_table_destroy(o.table);
}

/* SPDX-License-Identifier: MIT */
/* Streams of tables: only what was written is inserted. */
#include "table_stream.h"

/* ThreadSanitizer is slow for each record that liburcu frees, and finds nothing in a single thread: it gets samples. */
#ifdef __SANITIZE_THREAD__
enum { STEP = 61, LARGE_KINDS = 1 };
#else
enum { STEP = 1, LARGE_KINDS = 2 };
#endif

static const enum lade_table_kind kinds[] = {LADE_TABLE_WORDS, LADE_TABLE_BYTES};

/* No entries, and 3 in one block. */
Test(table_load, every_cut_is_noticed, .init = enter_thread, .fini = leave_thread)
{
    for (size_t k = 0; k < 2; k++)
        for (uint64_t count = 0; count < 4; count += 3) {
            struct lade_table *table = filled_table(kinds[k], count), *to = make_table(kinds[k]);
            struct stream s;
            uint64_t offset = 0, keys = 0;
            write_stream(table, &s);
            struct parts p = parts_of(&s, kinds[k]);
            size_t whole = s.size;
            for (s.size = 0; s.size < whole; s.size += STEP) {
                size_t part = part_at(&p, s.size);
                cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_DAMAGED);
                cr_assert_eq(offset, p.part[part].begins);
                cr_assert_eq(keys, p.part[part].entries);
            }
            s.size = whole;
            cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_OK);
            cr_assert_eq(offset, whole);
            cr_assert_eq(keys, count);
            free(s.bytes);
            lade_table_destroy(table);
            lade_table_destroy(to);
        }
}

static void flip(struct stream *s, size_t bit)
{
    s->bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
}

Test(table_load, every_flipped_bit_is_noticed, .init = enter_thread, .fini = leave_thread)
{
    for (size_t k = 0; k < 2; k++)
        for (uint64_t count = 0; count < 4; count += 3) {
            struct lade_table *table = filled_table(kinds[k], count), *to = make_table(kinds[k]);
            struct stream s;
            uint64_t offset = 0, keys = 0;
            write_stream(table, &s);
            struct parts p = parts_of(&s, kinds[k]);
            for (size_t bit = 0; bit < s.size * 8; bit += STEP) {
                size_t part = part_at(&p, bit / 8);
                flip(&s, bit);
                cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_DAMAGED);
                cr_assert_eq(offset, p.part[part].begins);
                cr_assert_eq(keys, p.part[part].entries, "nothing of a damaged block comes in");
                flip(&s, bit);
            }
            cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_OK);
            free(s.bytes);
            lade_table_destroy(table);
            lade_table_destroy(to);
        }
}

/* The same where there are several blocks, here and there. */
Test(table_load, damage_in_large_streams, .init = enter_thread, .fini = leave_thread)
{
    for (size_t k = 0; k < LARGE_KINDS; k++) {
        struct lade_table *table = filled_table(kinds[k], 9000), *to = make_table(kinds[k]);
        struct stream s;
        uint64_t offset = 0, keys = 0;
        write_stream(table, &s);
        struct parts p = parts_of(&s, kinds[k]);
        cr_assert_geq(p.count, 6);
        size_t whole = s.size;
        for (size_t i = 0; i < 60; i += STEP) {
            size_t at = i * 2654435761u % whole, part = part_at(&p, at);
            flip(&s, at * 8 + i % 8);
            cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_DAMAGED);
            cr_assert_eq(offset, p.part[part].begins);
            cr_assert_eq(keys, p.part[part].entries);
            flip(&s, at * 8 + i % 8);
            s.size = at;
            cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_DAMAGED);
            cr_assert_eq(offset, p.part[part].begins);
            cr_assert_eq(keys, p.part[part].entries);
            s.size = whole;
        }
        free(s.bytes);
        lade_table_destroy(table);
        lade_table_destroy(to);
    }
}

/* A stream made of parts of another one. */
static void copy_part(struct stream *to, const struct stream *from, const struct parts *p, size_t part)
{
    cr_assert(stream_put(to, from->bytes + p->part[part].begins, p->part[part + 1].begins - p->part[part].begins));
}

/* Each block is valid, but no block may be missing, repeated or moved. */
Test(table_load, blocks_keep_their_order, .init = enter_thread, .fini = leave_thread)
{
    static const struct {
        size_t part[6], good;
    } orders[] = {{{0, 2, 1, 3}, 1}, {{0, 1, 1, 2, 3}, 2}, {{0, 2, 3}, 1}, {{0, 1, 3}, 2}, {{0, 3}, 1}, {{1, 2, 3}, 0}};
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, WORDS_IN_BLOCK + 100);
    struct lade_table *to = make_table(LADE_TABLE_WORDS);
    struct stream s;
    uint64_t offset = 0, keys = 0;

    write_stream(table, &s);
    struct parts p = parts_of(&s, LADE_TABLE_WORDS);
    cr_assert_eq(p.count, 5);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct stream other = {0};
        uint64_t begins = 0, entries = 0;
        for (size_t j = 0; j < 6 && (j == 0 || orders[i].part[j] != 0); j++) {
            size_t part = orders[i].part[j];
            if (j < orders[i].good) {
                begins += p.part[part + 1].begins - p.part[part].begins;
                entries = p.part[part + 1].entries;
            }
            copy_part(&other, &s, &p, part);
        }
        cr_assert_eq(try_stream(to, &other, &offset, &keys), LADE_DAMAGED);
        cr_assert_eq(offset, begins);
        cr_assert_eq(keys, entries);
        free(other.bytes);
    }
    free(s.bytes);
    lade_table_destroy(table);
    lade_table_destroy(to);
}

/* From here on streams are built by hand, with correct checksums. */
static uint32_t chain;

static void put_header(struct stream *s, unsigned version, unsigned kind, unsigned flags)
{
    unsigned char header[HEADER] = "ladetab\n";

    lade_write_number(header + 8, version, 2);
    lade_write_number(header + 10, kind, 2);
    lade_write_number(header + 12, flags, 4);
    chain = lade_crc32c(0, header, 16);
    lade_write_number(header + 16, chain, 4);
    memset(s, 0, sizeof *s);
    cr_assert(stream_put(s, header, sizeof header));
}

static void put_block(struct stream *s, uint64_t count, uint64_t keys, const void *content, size_t size)
{
    unsigned char head[HEAD];

    lade_write_number(head, count, 4);
    lade_write_number(head + 4, keys, 4);
    lade_write_number(head + 8, lade_crc32c(0, content, size), 4);
    chain = lade_crc32c(chain, head, 12);
    lade_write_number(head + 12, chain, 4);
    cr_assert(stream_put(s, head, sizeof head));
    if (size > 0)
        cr_assert(stream_put(s, content, size));
}

static void put_end(struct stream *s, uint64_t total)
{
    unsigned char number[8];

    lade_write_number(number, total, 8);
    put_block(s, 0, 0, number, 8);
}

/* One byte-string entry at *to. */
static void put_string(unsigned char **to, uint64_t size, uint64_t value, const char *bytes)
{
    lade_write_number(*to, size, 4);
    lade_write_number(*to + 4, value, 8);
    memcpy(*to + 12, bytes, strlen(bytes));
    *to += 12 + strlen(bytes);
}

static void check_answer(enum lade_table_kind kind, struct stream *s, int answer, uint64_t where)
{
    struct lade_table *to = make_table(kind);
    uint64_t offset = 0, keys = 0;

    cr_assert_eq(try_stream(to, s, &offset, &keys), answer);
    cr_assert_eq(offset, where);
    cr_assert_eq(keys, 0);
    free(s->bytes);
    lade_table_destroy(to);
}

Test(table_load, other_kinds_and_versions, .init = enter_thread, .fini = leave_thread)
{
    static const struct {
        unsigned version, kind, flags;
        int words, strings;
    } headers[] = {
        {1, 0, 0, LADE_OK, LADE_INVALID},
        {1, 1, 0, LADE_INVALID, LADE_OK},
        {0, 0, 0, LADE_INVALID, LADE_INVALID},
        {2, 0, 0, LADE_INVALID, LADE_INVALID},
        {256 + 1, 1, 0, LADE_INVALID, LADE_INVALID},
        {1, 2, 0, LADE_INVALID, LADE_INVALID},
        {1, 0, 1, LADE_INVALID, LADE_INVALID},
        {1, 1, 1u << 31, LADE_INVALID, LADE_INVALID},
    };
    struct stream s;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        for (size_t k = 0; k < 2; k++) {
            int answer = kinds[k] == LADE_TABLE_WORDS ? headers[i].words : headers[i].strings;
            put_header(&s, headers[i].version, headers[i].kind, headers[i].flags);
            put_end(&s, 0);
            check_answer(kinds[k], &s, answer, answer == LADE_OK ? s.size : 0);
        }
    put_header(&s, 1, 0, 0);
    s.bytes[0] = 'L';
    lade_write_number(s.bytes + 16, chain = lade_crc32c(0, s.bytes, 16), 4);
    put_end(&s, 0);
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, 0);
}

/* Numbers that contradict each other or the limits of tables: no entry of the block is inserted. */
Test(table_load, hostile_words, .init = enter_thread, .fini = leave_thread)
{
    unsigned char content[BLOCK + 16] = {0};
    struct stream s;

    put_header(&s, 1, 0, 0);
    lade_write_number(content + 24, LADE_TABLE_VALUE_MAX + 1, 8); /* the value of the second */
    put_block(&s, 2, 0, content, 32);
    put_end(&s, 2);
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
    memset(content, 0, sizeof content);
    put_header(&s, 1, 0, 0);
    put_block(&s, 2, 1, content, 33); /* bytes of keys */
    put_end(&s, 2);
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
    put_header(&s, 1, 0, 0);
    put_block(&s, WORDS_IN_BLOCK + 1, 0, content, BLOCK + 16);
    put_end(&s, WORDS_IN_BLOCK + 1);
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
    put_header(&s, 1, 0, 0);
    put_block(&s, UINT32_MAX, 0, content, 16);
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
    put_header(&s, 1, 0, 0);
    put_end(&s, 1); /* and there was none */
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
    put_header(&s, 1, 0, 0);
    put_block(&s, 0, 8, content, 8); /* an end with keys */
    check_answer(LADE_TABLE_WORDS, &s, LADE_DAMAGED, HEADER);
}

Test(table_load, hostile_strings, .init = enter_thread, .fini = leave_thread)
{
    static const struct {
        uint64_t first, second, value; /* lengths stored in the entries */
    } said[] = {
        {4, 3, 0},          {3, 4, 0},          {2, 3, 0},
        {3, 2, 0},          {UINT32_MAX, 3, 0}, {3, UINT32_MAX, 0},
        {0, 0, 0},          {18, 0, 0},         {3, 3, LADE_TABLE_VALUE_MAX + 1},
        {3, 3, UINT64_MAX}, {15, 3, 0},
    };
    static unsigned char large[BLOCK + 1];
    unsigned char content[64], *to;
    struct stream s;

    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        to = content;
        put_string(&to, said[i].first, 0, "abc");
        put_string(&to, said[i].second, said[i].value, "def");
        put_header(&s, 1, 1, 0);
        put_block(&s, 2, 6, content, 30);
        put_end(&s, 2);
        check_answer(LADE_TABLE_BYTES, &s, LADE_DAMAGED, HEADER);
    }
    for (uint64_t count = 1; count <= 3; count += 2) { /* two entries are there */
        to = content;
        put_string(&to, 3, 0, "abc");
        put_string(&to, 3, 0, "def");
        put_header(&s, 1, 1, 0);
        put_block(&s, count, 30 - 12 * count, content, 30);
        put_end(&s, count);
        check_answer(LADE_TABLE_BYTES, &s, LADE_DAMAGED, HEADER);
    }
    /* A key of 4 GiB that is not there costs no memory to speak of. */
    put_header(&s, 1, 1, 0);
    put_block(&s, 1, UINT32_MAX, large, sizeof large);
    check_answer(LADE_TABLE_BYTES, &s, LADE_DAMAGED, HEADER);
    put_header(&s, 1, 1, 0);
    put_block(&s, 2, UINT32_MAX, content, 30);
    check_answer(LADE_TABLE_BYTES, &s, LADE_DAMAGED, HEADER);
}

/* The first one wins, as for every insert. */
Test(table_load, a_key_that_comes_twice, .init = enter_thread, .fini = leave_thread)
{
    unsigned char content[48] = {0};
    struct lade_table *table = make_table(LADE_TABLE_WORDS);
    struct stream s;
    uint64_t offset = 0, value = 0;

    for (int i = 0; i < 3; i++) {
        lade_write_number(content + 16 * i, 7, 8);
        lade_write_number(content + 16 * i + 8, 10 + (unsigned)i, 8);
    }
    put_header(&s, 1, 0, 0);
    put_block(&s, 3, 0, content, 48);
    put_end(&s, 3);
    cr_assert_eq(read_stream(table, &s, &offset), LADE_OK);
    cr_assert_eq(keys_of(table), 1);
    cr_assert_eq(lade_table_get(table, 7, &value), LADE_OK);
    cr_assert_eq(value, 10);
    free(s.bytes);
    lade_table_destroy(table);
}

Test(table_load, keys_that_are_there_keep_their_values, .init = enter_thread, .fini = leave_thread)
{
    for (size_t k = 0; k < 2; k++) {
        struct lade_table *from = filled_table(kinds[k], 5000), *to = make_table(kinds[k]);
        struct stream s;
        uint64_t offset = 0;
        write_stream(from, &s);
        for (uint64_t n = 1; n < 5500; n += 3)
            cr_assert_eq(put_entry(to, kinds[k], n, 77), LADE_OK);
        for (int twice = 0; twice < 2; twice++) {
            cr_assert_eq(read_stream(to, &s, &offset), LADE_OK);
            for (uint64_t n = 0; n < 5500; n++)
                if (n % 3 == 1)
                    cr_assert(has_entry(to, kinds[k], n, 77));
                else
                    cr_assert_eq(has_entry(to, kinds[k], n, value_of(n)), n < 5000);
        }
        free(s.bytes);
        lade_table_destroy(from);
        lade_table_destroy(to);
    }
}

Test(table_load, a_read_that_fails_ends_it, .init = enter_thread, .fini = leave_thread)
{
    for (size_t k = 0; k < LARGE_KINDS; k++) {
        struct lade_table *table = filled_table(kinds[k], 9000), *to = make_table(kinds[k]);
        struct stream s;
        uint64_t offset = 0, keys = 0;
        write_stream(table, &s);
        struct parts p = parts_of(&s, kinds[k]);
        cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_OK);
        int calls = s.calls;
        cr_assert_eq(calls, 1 + 2 * ((int)p.count - 2));
        for (s.fail_at = 1; s.fail_at <= calls; s.fail_at++) {
            size_t part = (size_t)s.fail_at / 2;
            cr_assert_eq(try_stream(to, &s, &offset, &keys), LADE_IO);
            cr_assert_eq(s.calls, s.fail_at, "no read after one that failed");
            cr_assert_eq(offset, p.part[part].begins);
            cr_assert_eq(keys, p.part[part].entries);
        }
        free(s.bytes);
        lade_table_destroy(table);
        lade_table_destroy(to);
    }
}

/* A stream after other bytes: offsets count from there on, and what follows is not read. */
Test(table_load, a_stream_inside_another, .init = enter_thread, .fini = leave_thread)
{
    struct lade_table *table = filled_table(LADE_TABLE_WORDS, 10), *to = make_table(LADE_TABLE_WORDS);
    struct stream s = {0};
    struct lade_sink sink = {stream_put, &s};
    struct lade_inlet source = {stream_get, &s, 5};
    uint64_t offset = 0;

    cr_assert(stream_put(&s, "title", 5));
    cr_assert_eq(lade_table_write(table, &sink), LADE_OK);
    size_t end = s.size;
    cr_assert(stream_put(&s, "more", 4));
    s.at = 5;
    cr_assert_eq(lade_table_read(to, &source, 0, &offset), LADE_OK);
    cr_assert_eq(s.at, end);
    cr_assert_eq(source.at, end);
    cr_assert_eq(offset, end);
    check_filled(to, LADE_TABLE_WORDS, 10);
    s.bytes[5 + HEADER] ^= 1;
    s.at = source.at = 5;
    cr_assert_eq(lade_table_read(to, &source, 0, &offset), LADE_DAMAGED);
    cr_assert_eq(offset, 5 + HEADER);
    s.at = source.at = 6;
    cr_assert_eq(lade_table_read(to, &source, 0, NULL), LADE_DAMAGED);
    free(s.bytes);
    lade_table_destroy(table);
    lade_table_destroy(to);
}

/* A table with a limit takes what it can, and reports it. */
Test(table_load, a_table_that_is_too_small, .init = enter_thread, .fini = leave_thread)
{
    struct lade_table *from = filled_table(LADE_TABLE_WORDS, 20000), *to = NULL;
    struct lade_table_config config = {.max_bytes = 100000};
    struct lade_inlet source = {stream_get, NULL, 0};
    struct stream s;
    uint64_t offset = 0;

    write_stream(from, &s);
    struct parts p = parts_of(&s, LADE_TABLE_WORDS);
    cr_assert_eq(lade_table_create(&to, &config), LADE_OK);
    source.context = &s;
    cr_assert_eq(lade_table_read(to, &source, 20000, &offset), LADE_NO_MEMORY);
    uint64_t keys = keys_of(to);
    cr_assert(keys > 0 && keys < 20000);
    size_t part = part_at(&p, offset);
    cr_assert_eq(offset, p.part[part].begins);
    cr_assert(keys >= p.part[part].entries && keys <= p.part[part + 1].entries);
    free(s.bytes);
    lade_table_destroy(from);
    lade_table_destroy(to);
}

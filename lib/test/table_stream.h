/* SPDX-License-Identifier: MIT */
/* Tables of both kinds whose keys are named by number, and streams in memory, for tests of save and load. */
#include "../checksum.h"
#include "../table_save.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <urcu/urcu-memb.h>

enum { HEADER = 20, HEAD = 16, END = HEAD + 8, BLOCK = 65536, WORDS_IN_BLOCK = BLOCK / 16 };

static inline void enter_thread(void)
{
    urcu_memb_register_thread();
}

static inline void leave_thread(void)
{
    urcu_memb_unregister_thread();
}

static inline struct lade_table *make_table(enum lade_table_kind kind)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .seed = 5};
    struct lade_table *table = NULL;

    cr_assert_eq(lade_table_create(&table, &config), LADE_OK);
    return table;
}

static inline uint64_t keys_of(struct lade_table *table)
{
    struct lade_table_stats stats;

    lade_table_stats(table, &stats);
    return stats.keys;
}

/* Word number n: the first two are the least and the largest. */
static inline uint64_t word_of(uint64_t n)
{
    return n == 1 ? UINT64_MAX : n * UINT64_C(0x9E3779B97F4A7C15);
}

/* String number n, of 8 to 47 bytes; number 0 is empty. */
static inline size_t bytes_of(uint64_t n, unsigned char bytes[48])
{
    size_t size = n == 0 ? 0 : 8 + n * 7 % 40;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i < 8 ? n >> 8 * i : n + i);
    return size;
}

static inline uint64_t value_of(uint64_t n)
{
    return n == 2 ? LADE_TABLE_VALUE_MAX : n * n;
}

static inline int put_entry(struct lade_table *table, enum lade_table_kind kind, uint64_t n, uint64_t value)
{
    unsigned char bytes[48];

    return kind == LADE_TABLE_WORDS ? lade_table_insert(table, word_of(n), value, NULL)
                                    : lade_table_insert_bytes(table, bytes, bytes_of(n, bytes), value, NULL);
}

static inline bool has_entry(struct lade_table *table, enum lade_table_kind kind, uint64_t n, uint64_t value)
{
    unsigned char bytes[48];
    uint64_t found = 0;
    int status = kind == LADE_TABLE_WORDS ? lade_table_get(table, word_of(n), &found)
                                          : lade_table_get_bytes(table, bytes, bytes_of(n, bytes), &found);

    return status == LADE_OK && found == value;
}

static inline struct lade_table *filled_table(enum lade_table_kind kind, uint64_t count)
{
    struct lade_table *table = make_table(kind);

    for (uint64_t n = 0; n < count; n++)
        cr_assert_eq(put_entry(table, kind, n, value_of(n)), LADE_OK);
    return table;
}

/* Exactly the entries of filled_table. */
static inline void check_filled(struct lade_table *table, enum lade_table_kind kind, uint64_t count)
{
    cr_assert_eq(keys_of(table), count);
    for (uint64_t n = 0; n < count; n++)
        cr_assert(has_entry(table, kind, n, value_of(n)));
}

struct stream {
    unsigned char *bytes;
    size_t size, capacity, at;
    int calls, fail_at; /* number of the call that fails, from 1 */
};

static inline bool stream_put(void *context, const void *bytes, size_t size)
{
    struct stream *s = context;

    if (++s->calls == s->fail_at)
        return false;
    if (s->capacity < s->size + size) {
        s->capacity = 2 * (s->size + size);
        s->bytes = realloc(s->bytes, s->capacity);
        cr_assert_not_null(s->bytes);
    }
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return true;
}

static inline int stream_get(void *context, void *bytes, size_t size)
{
    struct stream *s = context;

    cr_assert(size <= BLOCK || size <= s->at, "memory grows with what was read");
    if (++s->calls == s->fail_at)
        return LADE_IO;
    if (size > s->size - s->at)
        return LADE_EMPTY;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return LADE_OK;
}

static inline void write_stream(struct lade_table *table, struct stream *s)
{
    struct lade_sink sink = {stream_put, s};

    memset(s, 0, sizeof *s);
    cr_assert_eq(lade_table_write(table, &sink), LADE_OK);
}

static inline int read_stream(struct lade_table *table, struct stream *s, uint64_t *offset)
{
    struct lade_inlet source = {stream_get, s, 0};

    s->at = 0;
    s->calls = 0;
    *offset = UINT64_MAX;
    return lade_table_read(table, &source, 0, offset);
}

static inline bool remove_entry(void *context, const struct lade_table_entry *entry)
{
    struct lade_table *table = context;

    cr_assert_eq(entry->bytes ? lade_table_remove_bytes(table, entry->bytes, entry->size, NULL)
                              : lade_table_remove(table, entry->key, NULL),
                 LADE_OK);
    return true;
}

/* Reads into a table that is empty before and after; *keys is the number of keys read. */
static inline int try_stream(struct lade_table *table, struct stream *s, uint64_t *offset, uint64_t *keys)
{
    int status = read_stream(table, s, offset);

    *keys = keys_of(table);
    cr_assert_eq(lade_table_for_each(table, remove_entry, table, NULL), LADE_OK);
    return status;
}

/* Where the parts of a stream begin, and how many entries are before them. The last one is the end of the stream. */
struct parts {
    size_t count;
    struct {
        uint64_t begins, entries;
    } part[32];
};

static inline struct parts parts_of(const struct stream *s, enum lade_table_kind kind)
{
    struct parts p = {1, {{0, 0}}};
    uint64_t at = HEADER, entries = 0, count;

    do {
        p.part[p.count].begins = at;
        p.part[p.count++].entries = entries;
        count = lade_read_number(s->bytes + at, 4);
        at += HEAD + (count == 0 ? 8 : count * (kind == LADE_TABLE_WORDS ? 16 : 12));
        at += lade_read_number(s->bytes + p.part[p.count - 1].begins + 4, 4);
        entries += count;
    } while (count > 0);
    cr_assert_eq(at, s->size);
    p.part[p.count].begins = at;
    p.part[p.count++].entries = entries;
    return p;
}

/* Returns the part with the byte at this offset. */
static inline size_t part_at(const struct parts *p, uint64_t at)
{
    size_t i = 0;

    while (at >= p->part[i + 1].begins)
        i++;
    return i;
}

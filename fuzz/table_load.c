/* SPDX-License-Identifier: MIT */
/*
 * Loading a table from any bytes: no crash, and what came in is what the stream holds, sound, and comes through a second
 * stream as it is.
 *
 * The first byte of an input chooses the kind of table, the rest is the stream. With the bit UNCHECKED every checksum counts as
 * zero, so that the parts after them are reached; without it they are the real ones. Blocks are small, so that short
 * inputs have several, and keys that are longer than one. Memory that liburcu frees later looks like a leak of each input to
 * libFuzzer, so leaks are looked for at the end only.
 *
 * options: -detect_leaks=0
 */
#define LADE_TABLE_SAVE_BLOCK 256
#define LADE_TABLE_SAVE_CRC chosen_crc
#include <stddef.h>
#include <stdint.h>
static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size);
#include "table_save.c"

#include "reclaim.h"

#include <stdio.h>
#include <urcu/urcu-memb.h>

enum { STRINGS = 1, FILLED = 2, UNCHECKED = 0x80 };

static bool unchecked;

static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size)
{
    return unchecked ? 0 : lade_crc32c(crc, bytes, size);
}

#define must(good) ((good) ? (void)0 : wrong(#good, __LINE__))

static void wrong(const char *what, int line)
{
    fprintf(stderr, "line %d: not %s\n", line, what);
    abort();
}

struct stream {
    uint8_t *bytes;
    size_t size, at;
};

static int get_stream(void *context, void *bytes, size_t size)
{
    struct stream *s = context;

    must(size > 0 && (size <= LADE_TABLE_SAVE_BLOCK || size <= s->at));
    if (size > s->size - s->at)
        return LADE_EMPTY;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return LADE_OK;
}

static bool put_stream(void *context, const void *bytes, size_t size)
{
    struct stream *s = context;

    s->bytes = realloc(s->bytes, s->size + size);
    must(s->bytes);
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return true;
}

/* A table is made once, because destroying it waits for liburcu. */
static struct lade_table *make_table(enum lade_table_kind kind)
{
    struct lade_table_config config = {.kind = kind, .seeded = true, .seed = 1};
    struct lade_table *table = NULL;

    must(lade_table_create(&table, &config) == LADE_OK);
    return table;
}

static uint64_t keys_of(struct lade_table *table)
{
    struct lade_table_stats stats;

    lade_table_stats(table, &stats);
    return stats.keys;
}

static bool remove_entry(void *context, const struct lade_table_entry *entry)
{
    struct lade_table *table = context;

    must((entry->bytes ? lade_table_remove_bytes(table, entry->bytes, entry->size, NULL)
                       : lade_table_remove(table, entry->key, NULL)) == LADE_OK);
    return true;
}

/* Every entry of one table is in the other, with its value. */
static bool find_entry(void *context, const struct lade_table_entry *entry)
{
    uint64_t value = 0;

    must((entry->bytes ? lade_table_get_bytes(context, entry->bytes, entry->size, &value)
                       : lade_table_get(context, entry->key, &value)) == LADE_OK);
    must(value == entry->value && value <= LADE_TABLE_VALUE_MAX);
    return true;
}

static struct lade_table *tables[2][2];

/* The tables know of memory that nothing else points to. */
static void end(void)
{
    for (int i = 0; i < 4; i++)
        lade_table_destroy(tables[i / 2][i % 2]);
    lade_reclaim_barrier();
}

static void begin(void)
{
    urcu_memb_register_thread();
    for (int i = 0; i < 4; i++)
        tables[i / 2][i % 2] = make_table(i / 2 ? LADE_TABLE_BYTES : LADE_TABLE_WORDS);
    must(atexit(end) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    if (!tables[0][0])
        begin();
    bool strings = data[0] & STRINGS;
    struct lade_table *table = tables[strings][0], *other = tables[strings][1];
    struct stream s = {(uint8_t *)(uintptr_t)data + 1, size - 1, 0}, copy = {NULL, 0, 0};
    struct lade_inlet source = {get_stream, &s, 0}, again = {get_stream, &copy, 0};
    struct lade_sink sink = {put_stream, &copy};
    uint64_t offset = UINT64_MAX;

    unchecked = data[0] & UNCHECKED;
    uint64_t before = data[0] & FILLED;
    if (before)
        must((strings ? lade_table_insert_bytes(table, "cat", 3, 5, NULL) : lade_table_insert(table, 1, 5, NULL)) ==
             LADE_OK);
    int status = lade_table_read(table, &source, 0, &offset);
    must(status == LADE_OK || status == LADE_DAMAGED || status == LADE_INVALID);
    must(source.at == s.at && offset <= s.at && (status != LADE_OK || offset == s.at));
    uint64_t keys = keys_of(table);
    must(keys <= before + offset / BYTES_ENTRY);
    must(lade_table_write(table, &sink) == LADE_OK);
    must(lade_table_read(other, &again, 0, &offset) == LADE_OK);
    must(offset == copy.size && keys_of(other) == keys);
    must(lade_table_for_each(table, find_entry, other, NULL) == LADE_OK);
    must(lade_table_for_each(table, remove_entry, table, NULL) == LADE_OK);
    must(lade_table_for_each(other, remove_entry, other, NULL) == LADE_OK);
    must(keys_of(table) == 0 && keys_of(other) == 0);
    free(copy.bytes);
    return 0;
}

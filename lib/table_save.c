/* SPDX-License-Identifier: MIT */
/*
 * The entries of a table as a stream of bytes. Numbers are little endian, their sizes in bytes:
 *
 *   header   8 MAGIC, 2 VERSION, 2 kind, 4 zero, 4 checksum of the 16 before
 *   block    4 number of entries, 4 bytes of their keys, 4 checksum of the content, 4 checksum; then the content: for
 *            each entry of a table of words 8 key, 8 value, of byte strings 4 length, 8 value, and the bytes
 *   end      a block of no entries, whose content is the number of all entries (8)
 *
 * Bytes of keys are those of byte strings, zero for words. A block holds what fits into BLOCK bytes, or one entry. Its
 * second checksum is that of the first twelve bytes and continues from that of the block before (of the header, for the
 * first). So every number is verified before it is used, and no block can be left out, repeated or moved. Checksums are
 * CRC-32C. They detect accidental damage; against crafted files every number is checked as well.
 */
#include "table_save.h"

#include "checksum.h"
#include "fail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Checkers define smaller numbers, and arbitrary checksum results. */
#ifndef LADE_TABLE_SAVE_BLOCK
#define LADE_TABLE_SAVE_BLOCK 65536 /* at least 16 */
#endif
#ifndef LADE_TABLE_SAVE_CRC
#define LADE_TABLE_SAVE_CRC lade_crc32c
#endif

#define MAGIC "ladetab\n"
#define VERSION 1
#define HEADER 20
#define HEADER_CHECKED 16
#define BLOCK_HEAD 16
#define BLOCK_CHECKED 12
#define TOTAL 8
#define WORD_ENTRY 16
#define BYTES_ENTRY 12 /* and the bytes */
#define BATCH 64       /* entries that are inserted side by side */

/* For fewer entries than this, nothing is reserved before they are inserted. */
#define FEW 4096

static bool is_word_table(struct lade_table *table)
{
    return lade_table_get_bytes(table, "", 0, NULL) == LADE_INVALID;
}

struct writer {
    const struct lade_sink *sink;
    bool words;
    int status;
    int error;
    uint32_t checksum; /* of the last header or block head */
    uint32_t count;    /* entries in block[] */
    uint64_t total;
    size_t size; /* of the content in block[] */
    unsigned char block[BLOCK_HEAD + LADE_TABLE_SAVE_BLOCK];
};

static void put_bytes(struct writer *w, const void *bytes, size_t size)
{
    if (w->status != LADE_OK || size == 0 || w->sink->put(w->sink->context, bytes, size))
        return;
    w->status = LADE_IO;
    w->error = errno; /* other code may change errno before save returns */
}

static void write_header(struct writer *w)
{
    unsigned char header[HEADER];

    memcpy(header, MAGIC, 8);
    lade_write_number(header + 8, VERSION, 2);
    lade_write_number(header + 10, w->words ? LADE_TABLE_WORDS : LADE_TABLE_BYTES, 2);
    lade_write_number(header + 12, 0, 4);
    w->checksum = LADE_TABLE_SAVE_CRC(0, header, HEADER_CHECKED);
    lade_write_number(header + HEADER_CHECKED, w->checksum, 4);
    put_bytes(w, header, HEADER);
}

/* Writes a block of count entries: the contents of block[], then the bytes of more. */
static void write_block(struct writer *w, uint32_t count, const void *more, size_t more_size)
{
    uint32_t content = LADE_TABLE_SAVE_CRC(0, w->block + BLOCK_HEAD, w->size);
    uint64_t keys = w->words || count == 0 ? 0 : w->size + more_size - (uint64_t)count * BYTES_ENTRY;

    lade_write_number(w->block, count, 4);
    lade_write_number(w->block + 4, keys, 4);
    lade_write_number(w->block + 8, LADE_TABLE_SAVE_CRC(content, more, more_size), 4);
    w->checksum = LADE_TABLE_SAVE_CRC(w->checksum, w->block, BLOCK_CHECKED);
    lade_write_number(w->block + BLOCK_CHECKED, w->checksum, 4);
    put_bytes(w, w->block, BLOCK_HEAD + w->size);
    put_bytes(w, more, more_size);
    w->total += count;
    w->count = 0;
    w->size = 0;
}

static void write_rest(struct writer *w)
{
    if (w->count > 0)
        write_block(w, w->count, NULL, 0);
}

static bool write_entry(void *context, const struct lade_table_entry *entry)
{
    struct writer *w = context;
    size_t fixed = w->words ? WORD_ENTRY : BYTES_ENTRY, size = w->words ? 0 : entry->size;
    bool fits = size <= LADE_TABLE_SAVE_BLOCK - fixed;

    if (!fits || w->size + fixed + size > LADE_TABLE_SAVE_BLOCK)
        write_rest(w);
    unsigned char *to = w->block + BLOCK_HEAD + w->size;
    if (w->words) {
        lade_write_number(to, entry->key, 8);
        lade_write_number(to + 8, entry->value, 8);
    } else {
        lade_write_number(to, size, 4);
        lade_write_number(to + 4, entry->value, 8);
        if (fits && size > 0)
            memcpy(to + BYTES_ENTRY, entry->bytes, size);
    }
    w->count++;
    w->size += fits ? fixed + size : fixed;
    if (!fits)
        write_block(w, 1, entry->bytes, size);
    return w->status == LADE_OK;
}

int lade_table_write(struct lade_table *table, const struct lade_sink *sink)
{
    struct writer *w = malloc(sizeof *w);

    if (!w)
        return LADE_NO_MEMORY;
    w->sink = sink;
    w->words = is_word_table(table);
    w->status = LADE_OK;
    w->count = 0;
    w->total = 0;
    w->size = 0;
    write_header(w);
    if (w->status == LADE_OK) {
        int visited = lade_table_for_each(table, write_entry, w, NULL);
        if (w->status == LADE_OK)
            w->status = visited; /* no memory to finish a move: the file would be incomplete */
    }
    if (w->status == LADE_OK) {
        write_rest(w);
        lade_write_number(w->block + BLOCK_HEAD, w->total, TOTAL);
        w->size = TOTAL;
        write_block(w, 0, NULL, 0);
    }
    int status = w->status, error = w->error;
    free(w);
    if (status == LADE_IO)
        errno = error;
    return status;
}

struct reader {
    struct lade_table *table;
    struct lade_inlet *source;
    bool words;
    uint32_t checksum;
    uint64_t total;
    unsigned char *block;
    size_t capacity; /* of block */
};

static int take_bytes(struct reader *r, void *bytes, size_t size)
{
    int status = r->source->get(r->source->context, bytes, size);

    if (status == LADE_OK)
        r->source->at += size;
    return status == LADE_EMPTY ? LADE_DAMAGED : status;
}

static int read_header(struct reader *r)
{
    unsigned char header[HEADER];
    int status = take_bytes(r, header, HEADER);

    if (status != LADE_OK)
        return status;
    r->checksum = LADE_TABLE_SAVE_CRC(0, header, HEADER_CHECKED);
    if (memcmp(header, MAGIC, 8) != 0 || lade_read_number(header + HEADER_CHECKED, 4) != r->checksum)
        return LADE_DAMAGED;
    bool known = lade_read_number(header + 8, 2) == VERSION && lade_read_number(header + 12, 4) == 0 &&
                 lade_read_number(header + 10, 2) == (r->words ? LADE_TABLE_WORDS : LADE_TABLE_BYTES);
    return known ? LADE_OK : LADE_INVALID;
}

/* Reads the content of a block. Memory grows with the bytes that were read, not with the number in the block head. */
static int read_content(struct reader *r, size_t size, uint32_t checksum)
{
    uint32_t content = 0;

    for (size_t have = 0; have < size;) {
        if (have == r->capacity) {
            size_t capacity = r->capacity > size / 2 ? size : r->capacity * 2;
            unsigned char *block = realloc(r->block, capacity);
            if (!block)
                return LADE_NO_MEMORY;
            r->block = block;
            r->capacity = capacity;
        }
        size_t part = (size < r->capacity ? size : r->capacity) - have;
        int status = take_bytes(r, r->block + have, part);
        if (status != LADE_OK)
            return status;
        content = LADE_TABLE_SAVE_CRC(content, r->block + have, part);
        have += part;
    }
    return content == checksum ? LADE_OK : LADE_DAMAGED;
}

/* Whether the whole block is valid. Only then its entries are inserted. */
static bool sound(const struct reader *r, uint32_t count, size_t size)
{
    const unsigned char *from = r->block;
    size_t left = size;

    for (uint32_t i = 0; i < count; i++) {
        size_t fixed = r->words ? WORD_ENTRY : BYTES_ENTRY;
        if (left < fixed || lade_read_number(from + fixed - 8, 8) > LADE_TABLE_VALUE_MAX)
            return false;
        uint64_t key = r->words ? 0 : lade_read_number(from, 4);
        if (key > left - fixed)
            return false;
        from += fixed + (size_t)key;
        left -= fixed + (size_t)key;
    }
    return left == 0;
}

static int insert_words(struct reader *r, uint32_t count)
{
    uint64_t keys[BATCH], values[BATCH], winners[BATCH];
    const unsigned char *from = r->block;
    int status[BATCH];

    while (count > 0) {
        uint32_t batch = count < BATCH ? count : BATCH;
        for (uint32_t i = 0; i < batch; i++, from += WORD_ENTRY) {
            keys[i] = lade_read_number(from, 8);
            values[i] = lade_read_number(from + 8, 8);
        }
        (void)lade_table_insert_many(r->table, keys, batch, values, winners, status);
        for (uint32_t i = 0; i < batch; i++)
            if (status[i] != LADE_OK && status[i] != LADE_PRESENT)
                return status[i];
        count -= batch;
    }
    return LADE_OK;
}

static int insert_bytes(struct reader *r, uint32_t count)
{
    const unsigned char *from = r->block;

    for (uint32_t i = 0; i < count; i++) {
        size_t size = (size_t)lade_read_number(from, 4);
        uint64_t value = lade_read_number(from + 4, 8);
        int status = lade_table_insert_bytes(r->table, from + BYTES_ENTRY, size, value, NULL);
        if (status != LADE_OK && status != LADE_PRESENT)
            return status;
        from += BYTES_ENTRY + size;
    }
    return LADE_OK;
}

static int read_block(struct reader *r, bool *ended)
{
    unsigned char head[BLOCK_HEAD];
    int status = take_bytes(r, head, BLOCK_HEAD);

    if (status != LADE_OK)
        return status;
    uint32_t count = (uint32_t)lade_read_number(head, 4);
    uint64_t keys = lade_read_number(head + 4, 4);
    uint64_t size = count == 0 ? TOTAL : (uint64_t)count * (r->words ? WORD_ENTRY : BYTES_ENTRY) + keys;
    r->checksum = LADE_TABLE_SAVE_CRC(r->checksum, head, BLOCK_CHECKED);
    if (lade_read_number(head + BLOCK_CHECKED, 4) != r->checksum || ((r->words || count == 0) && keys > 0) ||
        (count > 1 && size > LADE_TABLE_SAVE_BLOCK))
        return LADE_DAMAGED;
    if (size > SIZE_MAX)
        return LADE_NO_MEMORY;
    status = read_content(r, (size_t)size, (uint32_t)lade_read_number(head + 8, 4));
    if (status != LADE_OK)
        return status;
    *ended = count == 0;
    if (*ended)
        return lade_read_number(r->block, TOTAL) == r->total ? LADE_OK : LADE_DAMAGED;
    if (!sound(r, count, (size_t)size))
        return LADE_DAMAGED;
    r->total += count;
    return r->words ? insert_words(r, count) : insert_bytes(r, count);
}

/*
 * Entries may arrive in the order of their hashes. In a table that is too small for all of them, they would fill one
 * end long before the table is full. So cells for all entries are reserved before the first. If that fails, the inserts
 * report it when they run out of memory: the keys may already be present.
 */
static void reserve_expected(struct lade_table *table, uint64_t expected)
{
    struct lade_table_stats stats;

    if (expected < FEW)
        return;
    lade_table_stats(table, &stats);
    (void)lade_table_reserve(table, stats.keys + expected);
}

int lade_table_read(struct lade_table *table, struct lade_inlet *source, uint64_t expected, uint64_t *offset)
{
    struct reader r = {
        .table = table, .source = source, .words = is_word_table(table), .capacity = LADE_TABLE_SAVE_BLOCK};
    uint64_t good = source->at;
    bool ended = false;
    int status = LADE_NO_MEMORY;

    r.block = malloc(r.capacity);
    if (r.block)
        status = read_header(&r);
    if (status == LADE_OK)
        reserve_expected(table, expected);
    while (status == LADE_OK && !ended) {
        good = source->at;
        status = read_block(&r, &ended);
    }
    int error = errno;
    free(r.block);
    errno = error;
    if (offset)
        *offset = status == LADE_OK ? source->at : good;
    return status;
}

uint64_t lade_table_expected(struct lade_file *f)
{
    unsigned char total[TOTAL] = {0};
    uint64_t most = lade_file_tail(f, total, TOTAL) / BYTES_ENTRY, entries = lade_read_number(total, TOTAL);

    return entries < most ? entries : most;
}

static int save_table(struct lade_table *table, const char *path)
{
    struct lade_file file;
    struct lade_sink sink = {lade_file_put, &file};
    int status = lade_file_create(&file, path);

    if (status != LADE_OK)
        return status;
    status = lade_table_write(table, &sink);
    if (status == LADE_OK)
        return lade_file_replace(&file);
    lade_file_drop(&file);
    return status;
}

int lade_table_save(struct lade_table *table, const char *path, struct lade_error *error)
{
    if (!table || !path)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "table or path is NULL");
    return lade_file_explain(error, save_table(table, path), path, LADE_NO_OFFSET, "be written");
}

static int load_table(struct lade_table *table, const char *path, uint64_t *offset)
{
    struct lade_file file;
    struct lade_inlet source = {lade_file_get, &file, 0};
    unsigned char more;
    int status = lade_file_open(&file, path);

    *offset = LADE_NO_OFFSET;
    if (status != LADE_OK)
        return status;
    status = lade_table_read(table, &source, lade_table_expected(&file), offset);
    if (status == LADE_OK) {
        int end = lade_file_get(&file, &more, 1);
        status = end == LADE_OK ? LADE_DAMAGED : end == LADE_EMPTY ? LADE_OK : end;
    }
    lade_file_drop(&file);
    return status;
}

int lade_table_load(struct lade_table *table, const char *path, struct lade_error *error)
{
    uint64_t offset;

    if (!table || !path)
        return lade_fail(error, LADE_INVALID, NULL, LADE_NO_OFFSET, "table or path is NULL");
    int status = load_table(table, path, &offset);
    if (status == LADE_INVALID)
        return lade_fail(
            error, status, path, offset,
            "written by a later version, or by a table with the other kind of keys (words or byte strings)");
    return lade_file_explain(error, status, path, offset, "be read");
}

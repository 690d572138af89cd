/* SPDX-License-Identifier: MIT */
/*
 * Files of splits. Numbers are little endian, their sizes in bytes:
 *
 *   header   8 MAGIC, 2 VERSION, 1 rule, 1 store, 1 content, 1 conflict, 1 uncorrected, 1 parts, 4 classes, 4 threads,
 *            4 bits per item, 4 zero, 8 seed, 8 capacity, 4 zero, 4 checksum of the 52 before
 *   lists    4 for each weight, 8 for each quota, 8 for each number of tokens left; 4 checksum
 *   content  exact: the entries as lade_table_write() writes them
 *            compact, arrays: the words (8 each) in blocks of BLOCK bytes, each with its checksum (4) before it
 *
 * A checksum continues from the one before, so that no part can be left out or moved. Checksums are CRC-32C. The header
 * is verified before its numbers are used.
 */
#include "split.h"

#include "checksum.h"
#include "fail.h"
#include "file.h"
#include "table_save.h"

#include <string.h>

/* Checkers define arbitrary checksum results. */
#ifndef LADE_SPLIT_CRC
#define LADE_SPLIT_CRC lade_crc32c
#endif

#define MAGIC "ladespl\n"
#define VERSION 1
#define HEADER 56
#define HEADER_CHECKED 52
#define BLOCK 4096
#define WEIGHT 4
#define NUMBER 8
#define CHECK 4

/* A position in a file and the checksum of everything before it. */
struct stream {
    struct lade_file file;
    uint64_t at;    /* reading: of the next byte */
    uint64_t begin; /* reading: of the current part */
    uint32_t checksum;
};

static bool put(struct stream *f, const void *bytes, size_t size)
{
    return lade_file_put(&f->file, bytes, size);
}

static bool put_checked(struct stream *f, const void *bytes, size_t size)
{
    f->checksum = LADE_SPLIT_CRC(f->checksum, bytes, size);
    return put(f, bytes, size);
}

static bool put_checksum(struct stream *f)
{
    unsigned char bytes[CHECK];

    lade_write_number(bytes, f->checksum, CHECK);
    return put(f, bytes, CHECK);
}

static bool put_number(struct stream *f, uint64_t number, int size)
{
    unsigned char bytes[NUMBER];

    lade_write_number(bytes, number, size);
    return put_checked(f, bytes, (size_t)size);
}

static bool write_split_header(struct stream *f, const struct lade_split_config *c)
{
    unsigned char header[HEADER_CHECKED] = {0};

    memcpy(header, MAGIC, 8);
    lade_write_number(header + 8, VERSION, 2);
    header[10] = (unsigned char)c->rule;
    header[11] = (unsigned char)c->store;
    header[12] = (unsigned char)c->content;
    header[13] = (unsigned char)c->conflict;
    header[14] = c->uncorrected;
    header[15] = (unsigned char)c->parts;
    lade_write_number(header + 16, c->classes, 4);
    lade_write_number(header + 20, c->threads, 4);
    lade_write_number(header + 24, c->bits_per_item, 4);
    lade_write_number(header + 32, c->seed, 8);
    lade_write_number(header + 40, c->store == LADE_SPLIT_EXACT ? 0 : c->capacity, 8);
    return put_checked(f, header, HEADER_CHECKED) && put_checksum(f);
}

static bool write_lists(struct stream *f, const struct lade_split *s, const uint64_t *left)
{
    const size_t numbers = (size_t)s->config.classes * s->config.parts;
    bool good = true;

    for (unsigned i = 0; i < s->config.parts && good; i++)
        good = put_number(f, s->weight[i], WEIGHT);
    for (size_t i = 0; i < numbers && good; i++)
        good = put_number(f, s->quota[i], NUMBER);
    for (size_t i = 0; i < numbers && good; i++)
        good = put_number(f, left[i], NUMBER);
    return good && put_checksum(f);
}

static bool write_words(struct stream *f, const struct lade_split *s)
{
    unsigned char block[BLOCK];
    bool good = true;

    for (uint64_t i = 0; i < s->words && good;) {
        size_t size = 0;
        for (; size < BLOCK && i < s->words; size += NUMBER)
            lade_write_number(block + size, atomic_load_explicit(&s->word[i++], memory_order_relaxed), NUMBER);
        f->checksum = LADE_SPLIT_CRC(f->checksum, block, size);
        good = put_checksum(f) && put(f, block, size);
    }
    return good;
}

static bool count_token(void *context, const void *element)
{
    uint64_t *left = context;

    left[*(const uint64_t *)element - 1]++;
    return true;
}

/* Stores the remaining tokens, in the form of config.quota. */
static int count_tokens(struct lade_split *s, uint64_t *left)
{
    for (size_t i = 0; i < (size_t)s->config.classes * s->config.parts; i++)
        left[i] = 0;
    for (unsigned i = 0; i < s->config.classes; i++) {
        struct lade_bag_handle *h;
        if (!s->class_of[i].tokens)
            continue;
        int status = lade_bag_join(s->class_of[i].tokens, &h);
        if (status != LADE_OK)
            return status;
        (void)lade_bag_for_each(h, count_token, left + (size_t)i * s->config.parts, NULL);
        lade_bag_leave(h);
    }
    return LADE_OK;
}

static int write_all(struct stream *f, struct lade_split *s, const uint64_t *left)
{
    const struct lade_sink sink = {lade_file_put, &f->file};

    if (!write_split_header(f, &s->config) || !write_lists(f, s, left))
        return LADE_IO;
    if (s->table)
        return lade_table_write(s->table, &sink);
    return !s->word || write_words(f, s) ? LADE_OK : LADE_IO;
}

static int save_split(struct lade_split *s, const char *path)
{
    const uint64_t numbers = (uint64_t)s->config.classes * s->config.parts;
    uint64_t *left = NULL;
    struct stream f = {.checksum = 0};
    int status = LADE_OK;

    if (numbers > 0) {
        left = lade_array_get(s->config.alloc, numbers, sizeof *left);
        status = left ? count_tokens(s, left) : LADE_NO_MEMORY;
    }
    if (status == LADE_OK)
        status = lade_file_create(&f.file, path);
    if (status == LADE_OK) {
        status = write_all(&f, s, left);
        if (status == LADE_OK)
            status = lade_file_replace(&f.file);
        else
            lade_file_drop(&f.file);
    }
    lade_array_put(s->config.alloc, left, numbers, sizeof *left);
    return status;
}

int lade_split_save(struct lade_split *s, const char *path, struct lade_error *error)
{
    return lade_file_explain(error, save_split(s, path), path, LADE_NO_OFFSET, "be written");
}

static int get_bytes(struct stream *f, void *bytes, size_t size)
{
    int status = lade_file_get(&f->file, bytes, size);

    f->at += size;
    return status == LADE_EMPTY ? LADE_DAMAGED : status;
}

static int get_checked(struct stream *f, void *bytes, size_t size)
{
    int status = get_bytes(f, bytes, size);

    if (status == LADE_OK)
        f->checksum = LADE_SPLIT_CRC(f->checksum, bytes, size);
    return status;
}

static int get_checksum(struct stream *f)
{
    unsigned char bytes[CHECK];
    int status = get_bytes(f, bytes, CHECK);

    return status == LADE_OK && lade_read_number(bytes, CHECK) != f->checksum ? LADE_DAMAGED : status;
}

static int read_split_header(struct stream *f, struct lade_split_config *c)
{
    unsigned char header[HEADER_CHECKED];
    int status = get_checked(f, header, HEADER_CHECKED);

    if (status == LADE_OK)
        status = get_checksum(f);
    if (status != LADE_OK)
        return status;
    if (memcmp(header, MAGIC, 8) != 0)
        return LADE_DAMAGED;
    if (lade_read_number(header + 8, 2) != VERSION)
        return LADE_INVALID;
    c->rule = (enum lade_split_rule)header[10];
    c->store = (enum lade_split_store)header[11];
    c->content = (enum lade_split_content)header[12];
    c->conflict = (enum lade_split_conflict)header[13];
    c->uncorrected = header[14];
    c->parts = header[15];
    c->classes = (unsigned)lade_read_number(header + 16, 4);
    c->threads = (unsigned)lade_read_number(header + 20, 4);
    c->bits_per_item = (unsigned)lade_read_number(header + 24, 4);
    c->seed = lade_read_number(header + 32, 8);
    c->capacity = lade_read_number(header + 40, 8);
    bool good = header[14] <= 1 && c->bits_per_item <= 1024 && c->classes <= LADE_SPLIT_CLASSES_MAX &&
                (c->store == LADE_SPLIT_ARRAYS) == (c->bits_per_item > 0) &&
                (c->store == LADE_SPLIT_EXACT ? c->capacity == 0 : true);
    return good ? LADE_OK : LADE_DAMAGED;
}

/* Reads numbers into 32-bit weights or 64-bit counts. */
static int read_list(struct stream *f, uint32_t *weights, uint64_t *counts, size_t count)
{
    int status = LADE_OK;

    for (size_t i = 0; i < count && status == LADE_OK; i++) {
        unsigned char bytes[NUMBER];
        status = get_checked(f, bytes, weights ? WEIGHT : NUMBER);
        if (status == LADE_OK && weights)
            weights[i] = (uint32_t)lade_read_number(bytes, WEIGHT);
        else if (status == LADE_OK)
            counts[i] = lade_read_number(bytes, NUMBER);
    }
    return status;
}

/* Whether a word is possible. */
static bool is_word(const struct lade_split *s, uint64_t word)
{
    if (s->config.store == LADE_SPLIT_COMPACT)
        return word >> 60 <= 6;                           /* entries */
    return s->config.uncorrected || !(word & word >> 32); /* an item has a bit in one array only */
}

static int read_words(struct stream *f, struct lade_split *s)
{
    unsigned char head[CHECK], block[BLOCK];
    int status = LADE_OK;

    for (uint64_t i = 0; i < s->words && status == LADE_OK;) {
        uint64_t left = (s->words - i) * NUMBER;
        size_t size = left < BLOCK ? (size_t)left : BLOCK;
        f->begin = f->at;
        status = get_bytes(f, head, CHECK);
        if (status == LADE_OK)
            status = get_checked(f, block, size);
        if (status == LADE_OK && lade_read_number(head, CHECK) != f->checksum)
            status = LADE_DAMAGED;
        for (size_t at = 0; at < size && status == LADE_OK; at += NUMBER) {
            uint64_t word = lade_read_number(block + at, NUMBER);
            if (is_word(s, word))
                atomic_store_explicit(&s->word[i++], word, memory_order_relaxed); /* no other thread uses it yet */
            else
                status = LADE_DAMAGED;
        }
    }
    return status;
}

static bool is_entry(void *parts, const struct lade_table_entry *entry)
{
    return lade_split_kind_of(entry->value) == 0 || lade_split_part_of(entry->value) < *(unsigned *)parts;
}

static int read_table(struct stream *f, struct lade_split *s)
{
    struct lade_inlet source = {lade_file_get, &f->file, f->at};
    int status = lade_table_read(s->table, &source, lade_table_expected(&f->file), &f->begin);

    if (status == LADE_OK && lade_table_for_each(s->table, is_entry, &s->config.parts, NULL) != LADE_OK) {
        f->begin = f->at;
        status = LADE_DAMAGED;
    }
    return status;
}

/* Returns the minimum size of a file with this header. A smaller file need not be read. */
static uint64_t asks_for(const struct lade_split_config *c)
{
    uint64_t lists = (uint64_t)c->classes * c->parts * NUMBER * 2;
    uint64_t bits = c->store == LADE_SPLIT_COMPACT ? 12 : c->bits_per_item;

    return c->capacity > UINT64_MAX / 2048 ? UINT64_MAX : lists + c->capacity * bits / 8;
}

/* Returns the bytes for the tokens of a quota, at least as many as will be allocated; UINT64_MAX if above any limit. */
static uint64_t token_bytes(const struct lade_split_config *c, const uint64_t *left)
{
    const uint64_t handles = c->threads > 8 ? c->threads + UINT64_C(1) : 9; /* 8 threads if the file has none */
    uint64_t bytes = 0;

    for (size_t i = 0; i < (size_t)c->classes; i++) {
        uint64_t tokens = 0;
        for (unsigned part = 0; part < c->parts; part++) {
            uint64_t more = left[i * c->parts + part];
            if (more > LADE_BAG_MAX)
                return UINT64_MAX;
            tokens += more;
        }
        bytes += tokens == 0 ? 0 : tokens * 9 + handles * 1024;
    }
    return bytes;
}

static int read_all(struct stream *f, struct lade_split **split, const struct lade_alloc *alloc, uint64_t most)
{
    struct lade_split_config c = {.alloc = alloc};
    uint32_t weight[LADE_SPLIT_PARTS_MAX];
    int status = read_split_header(f, &c);

    if (status != LADE_OK)
        return status;
    f->begin = f->at;
    const size_t numbers = (size_t)c.classes * c.parts;
    if (asks_for(&c) > lade_file_size(&f->file))
        return LADE_DAMAGED;
    uint64_t *counts = numbers > 0 ? lade_array_get(alloc, 2 * numbers, sizeof *counts) : NULL;
    if (numbers > 0 && !counts)
        return LADE_NO_MEMORY;
    c.weights = weight;
    c.quota = counts;
    status = read_list(f, weight, NULL, c.parts);
    if (status == LADE_OK)
        status = read_list(f, NULL, counts, 2 * numbers);
    if (status == LADE_OK)
        status = get_checksum(f);
    if (status == LADE_OK && counts && token_bytes(&c, counts + numbers) > most)
        status = LADE_LIMITED;
    if (status == LADE_OK) {
        status = lade_split_make(split, &c, counts ? counts + numbers : NULL);
        status = status == LADE_INVALID ? LADE_DAMAGED : status;
    }
    lade_array_put(alloc, counts, 2 * numbers, sizeof *counts);
    if (status != LADE_OK)
        return status;
    f->begin = f->at;
    status = (*split)->table ? read_table(f, *split) : read_words(f, *split);
    if (status == LADE_OK) {
        unsigned char more;
        int end = lade_file_get(&f->file, &more, 1);
        if (!(*split)->table)
            f->begin = f->at;
        status = end == LADE_OK ? LADE_DAMAGED : end == LADE_EMPTY ? LADE_OK : end;
    }
    if (status != LADE_OK)
        lade_split_destroy(*split);
    return status;
}

static int explain_load(struct lade_error *error, int status, const char *path, uint64_t offset, uint64_t limit)
{
    if (status == LADE_LIMITED)
        return lade_fail(error, status, path, offset,
                         "its tokens take more than %llu bytes; lade_split_load_limited() takes a higher limit",
                         (unsigned long long)limit);
    if (status == LADE_INVALID)
        return lade_fail(error, status, path, offset, "written by a later version; load it with that one");
    return lade_file_explain(error, status, path, offset, "be read");
}

int lade_split_load(struct lade_split **split, const char *path, const struct lade_alloc *alloc,
                    struct lade_error *error)
{
    return lade_split_load_limited(split, path, LADE_SPLIT_LOAD_BYTES, alloc, error);
}

int lade_split_load_limited(struct lade_split **split, const char *path, uint64_t token_bytes_max,
                            const struct lade_alloc *alloc, struct lade_error *error)
{
    struct stream f = {.checksum = 0};
    struct lade_split *loaded = NULL;
    int status = lade_file_open(&f.file, path);

    if (status != LADE_OK)
        return lade_file_explain(error, status, path, LADE_NO_OFFSET, "be opened");
    status = read_all(&f, &loaded, alloc ? alloc : &lade_default, token_bytes_max);
    lade_file_drop(&f.file);
    if (status != LADE_OK)
        return explain_load(error, status, path, f.begin, token_bytes_max);
    *split = loaded;
    return LADE_OK;
}

/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: the elements of a bag as a stream of bytes. Numbers are little endian, their sizes in bytes:
 *
 *   header   8 MAGIC, 2 VERSION, 2 kind, 4 flags, 8 size of an element, 4 checksum of the 24 before
 *   block    4 number of elements, 4 checksum of the content, 4 checksum; then the content: for each element 2 times
 *            that it was sampled, then the word (8) or the bytes of the record
 *   end      a block of no elements, whose content is the number of all elements (8)
 *
 * A block holds what fits into BLOCK bytes, or one element. Its second checksum is that of the first eight bytes and
 * continues from that of the block before (of the header, for the first). So every number is verified before it is
 * used, and no block can be left out, repeated or moved. Checksums are CRC-32C.
 */
#include "bag.h"

#include "checksum.h"
#include "fail.h"

#include <string.h>

/* Checkers define smaller numbers, and arbitrary checksum results. */
#ifndef LADE_BAG_BLOCK
#define LADE_BAG_BLOCK 4096 /* at least 10 */
#endif
#ifndef LADE_BAG_CRC
#define LADE_BAG_CRC lade_crc32c
#endif

#define MAGIC "ladebag\n"
#define VERSION 1
#define OLDEST_FIRST 1u /* a flag: older elements come first */
#define HEADER 28
#define HEADER_CHECKED 24
#define BLOCK_HEAD 12
#define BLOCK_CHECKED 8
#define TIMES 2

static bool holds_words(const struct lade_bag *b)
{
    return b->config.kind == LADE_BAG_WORDS;
}

static bool fits_block(const struct lade_bag *b)
{
    return b->element <= LADE_BAG_BLOCK - TIMES;
}

static uint32_t most_in_block(const struct lade_bag *b)
{
    return fits_block(b) ? (uint32_t)(LADE_BAG_BLOCK / (TIMES + b->element)) : 1;
}

struct bag_writer {
    bool (*write)(void *context, const void *bytes, size_t size);
    void *context;
    const struct lade_bag *bag;
    bool good;
    uint32_t checksum; /* of the last header or block head */
    uint32_t count;    /* elements in block[] */
    uint64_t total;
    size_t size; /* of the content in block[] */
    unsigned char block[BLOCK_HEAD + LADE_BAG_BLOCK];
};

/* Writes a block of count elements: the contents of block[], then the bytes of more. */
static void write_bag_block(struct bag_writer *w, uint32_t count, const void *more, size_t more_size)
{
    uint32_t content = LADE_BAG_CRC(0, w->block + BLOCK_HEAD, w->size);

    lade_write_number(w->block, count, 4);
    lade_write_number(w->block + 4, LADE_BAG_CRC(content, more, more_size), 4);
    w->checksum = LADE_BAG_CRC(w->checksum, w->block, BLOCK_CHECKED);
    lade_write_number(w->block + BLOCK_CHECKED, w->checksum, 4);
    w->good = w->write(w->context, w->block, BLOCK_HEAD + w->size) &&
              (more_size == 0 || w->write(w->context, more, more_size));
    w->total += count;
    w->count = 0;
    w->size = 0;
}

static bool write_element(void *context, const void *element, uint64_t times)
{
    struct bag_writer *w = context;
    unsigned char *to = w->block + BLOCK_HEAD + w->size;
    uint64_t word;

    lade_write_number(to, times, TIMES);
    w->size += TIMES;
    if (!fits_block(w->bag)) {
        write_bag_block(w, 1, element, w->bag->element);
        return w->good;
    }
    if (holds_words(w->bag)) {
        memcpy(&word, element, sizeof word);
        lade_write_number(to + TIMES, word, sizeof word);
    } else {
        memcpy(to + TIMES, element, w->bag->element);
    }
    w->size += w->bag->element;
    if (++w->count == most_in_block(w->bag))
        write_bag_block(w, w->count, NULL, 0);
    return w->good;
}

static void write_bag_header(struct bag_writer *w)
{
    const struct lade_bag *b = w->bag;
    unsigned char header[HEADER];

    memcpy(header, MAGIC, 8);
    lade_write_number(header + 8, VERSION, 2);
    lade_write_number(header + 10, b->config.kind, 2);
    lade_write_number(header + 12, b->config.full == LADE_BAG_EVICT_OLDEST ? OLDEST_FIRST : 0, 4);
    lade_write_number(header + 16, b->element, 8);
    w->checksum = LADE_BAG_CRC(0, header, HEADER_CHECKED);
    lade_write_number(header + HEADER_CHECKED, w->checksum, 4);
    w->good = w->write(w->context, header, HEADER);
}

static int refuse_refs(struct lade_error *error)
{
    if (error)
        (void)lade_fail(error, LADE_INVALID, "snapshot", LADE_NO_OFFSET,
                        "a bag of refs cannot be saved: refs are addresses of this process");
    return LADE_INVALID;
}

int lade_bag_snapshot(struct lade_bag_handle *h, bool (*write)(void *, const void *, size_t), void *context,
                      struct lade_error *error)
{
    struct bag_writer w = {.write = write, .context = context, .bag = h->bag};

    if (h->bag->config.kind == LADE_BAG_REFS)
        return refuse_refs(error);
    write_bag_header(&w);
    if (w.good)
        (void)lade_bag_visit(h, write_element, &w);
    if (w.good && w.count > 0)
        write_bag_block(&w, w.count, NULL, 0);
    if (w.good) {
        lade_write_number(w.block + BLOCK_HEAD, w.total, 8);
        w.size = 8;
        write_bag_block(&w, 0, NULL, 0);
    }
    if (w.good)
        return LADE_OK;
    if (error)
        (void)lade_fail(error, LADE_IO, "snapshot", LADE_NO_OFFSET, "write() failed; the snapshot is incomplete");
    return LADE_IO;
}

struct bag_reader {
    bool (*read)(void *context, void *bytes, size_t size);
    void *context;
    struct lade_bag_handle *handle;
    uint32_t checksum;
    uint64_t total;
    uint64_t at;
    unsigned char block[LADE_BAG_BLOCK];
};

static bool take_bag_bytes(struct bag_reader *r, void *bytes, size_t size)
{
    if (!r->read(r->context, bytes, size))
        return false;
    r->at += size;
    return true;
}

static int read_bag_header(struct bag_reader *r)
{
    const struct lade_bag *b = r->handle->bag;
    unsigned char header[HEADER];

    if (!take_bag_bytes(r, header, HEADER))
        return LADE_IO;
    r->checksum = LADE_BAG_CRC(0, header, HEADER_CHECKED);
    bool good = memcmp(header, MAGIC, 8) == 0 && lade_read_number(header + HEADER_CHECKED, 4) == r->checksum &&
                lade_read_number(header + 8, 2) == VERSION && lade_read_number(header + 10, 2) == b->config.kind &&
                lade_read_number(header + 12, 4) <= OLDEST_FIRST && lade_read_number(header + 16, 8) == b->element;
    return good ? LADE_OK : LADE_DAMAGED;
}

/*
 * Reads the content of a block and checks all of it. A record too large for block[] is read into the handle's scratch.
 */
static int read_bag_content(struct bag_reader *r, uint32_t count, uint32_t checksum)
{
    const struct lade_bag *b = r->handle->bag;
    bool fits = count == 0 || fits_block(b);
    size_t size = count == 0 ? 8 : fits ? count * (TIMES + b->element) : TIMES;

    if (!take_bag_bytes(r, r->block, size))
        return LADE_IO;
    uint32_t content = LADE_BAG_CRC(0, r->block, size);
    if (!fits) {
        void *scratch = lade_bag_scratch(r->handle);
        if (!take_bag_bytes(r, scratch, b->element))
            return LADE_IO;
        content = LADE_BAG_CRC(content, scratch, b->element);
    }
    if (content != checksum)
        return LADE_DAMAGED;
    for (size_t i = TIMES; holds_words(b) && count > 0 && i < size; i += TIMES + sizeof(uint64_t)) {
        uint64_t word = lade_read_number(r->block + i, sizeof word);
        if (word == 0 || word > LADE_BAG_WORD_MAX)
            return LADE_DAMAGED;
    }
    return LADE_OK;
}

static int put_content(struct bag_reader *r, uint32_t count)
{
    const struct lade_bag *b = r->handle->bag;
    const unsigned char *from = r->block;
    int status = LADE_OK;

    for (uint32_t i = 0; i < count && status == LADE_OK; i++, from += TIMES + b->element) {
        uint64_t word = holds_words(b) ? lade_read_number(from + TIMES, sizeof word) : 0;
        const void *element = !fits_block(b) ? NULL : holds_words(b) ? (const void *)&word : from + TIMES;
        status = lade_bag_put_sampled(r->handle, element, lade_read_number(from, TIMES));
        r->total += status == LADE_OK;
    }
    return status;
}

static int restore_block(struct bag_reader *r, bool *ended)
{
    unsigned char head[BLOCK_HEAD];

    if (!take_bag_bytes(r, head, BLOCK_HEAD))
        return LADE_IO;
    r->checksum = LADE_BAG_CRC(r->checksum, head, BLOCK_CHECKED);
    uint64_t count = lade_read_number(head, 4);
    if (lade_read_number(head + BLOCK_CHECKED, 4) != r->checksum || count > most_in_block(r->handle->bag))
        return LADE_DAMAGED;
    int status = read_bag_content(r, (uint32_t)count, (uint32_t)lade_read_number(head + 4, 4));
    if (status != LADE_OK)
        return status;
    *ended = count == 0;
    if (*ended)
        return lade_read_number(r->block, 8) == r->total ? LADE_OK : LADE_DAMAGED;
    return put_content(r, (uint32_t)count);
}

static void explain_restore(struct lade_error *error, int status, uint64_t offset)
{
    const char *reason = "the bag accepts no more elements: it is full, limited or closed";

    if (status == LADE_IO)
        reason = "read() failed, or the snapshot is cut short";
    else if (status == LADE_DAMAGED && offset == 0)
        reason = "not a snapshot, a damaged one, or one of a bag of another kind or record size";
    else if (status == LADE_DAMAGED)
        reason = "damaged; the elements before this byte were put";
    (void)lade_fail(error, status, "snapshot", offset, "%s", reason);
}

int lade_bag_restore(struct lade_bag_handle *h, bool (*read)(void *, void *, size_t), void *context,
                     struct lade_error *error)
{
    struct bag_reader r = {.read = read, .context = context, .handle = h};
    bool ended = false;
    uint64_t good = 0;

    if (h->bag->config.kind == LADE_BAG_REFS)
        return refuse_refs(error);
    int status = read_bag_header(&r);
    while (status == LADE_OK && !ended) {
        good = r.at;
        status = restore_block(&r, &ended);
    }
    if (error && status != LADE_OK)
        explain_restore(error, status, good);
    return status;
}

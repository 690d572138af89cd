/* SPDX-License-Identifier: MIT */
/*
 * Restoring a bag from any bytes: no crash, and what restore reports as put can be drawn.
 *
 * The first two bytes of an input choose the bag, the rest is the stream. With the bit UNCHECKED every checksum counts as
 * zero, so that the parts after them are reached; without it they are the real ones.
 */
#define LADE_BAG_CRC chosen_crc
#include <stddef.h>
#include <stdint.h>
static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size);
#include "bag_snapshot.c"

#include <stdlib.h>

enum { RECORDS = 1, POLICY_SHIFT = 1, SIZE_SHIFT = 3, UNCHECKED = 0x80 };

static const size_t sizes[] = {1, 5, 24, LADE_BAG_BLOCK - TIMES + 1};
static bool unchecked;

static uint32_t chosen_crc(uint32_t crc, const void *bytes, size_t size)
{
    return unchecked ? 0 : lade_crc32c(crc, bytes, size);
}

static void must(bool good)
{
    if (!good)
        abort();
}

struct stream {
    const uint8_t *bytes;
    size_t size, at;
};

static bool read_stream(void *context, void *bytes, size_t size)
{
    struct stream *s = context;

    if (size > s->size - s->at)
        return false;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return true;
}

struct copy {
    uint8_t *bytes;
    size_t size;
};

static bool write_copy(void *context, const void *bytes, size_t size)
{
    struct copy *c = context;

    c->bytes = realloc(c->bytes, c->size + size);
    must(c->bytes);
    memcpy(c->bytes + c->size, bytes, size);
    c->size += size;
    return true;
}

static struct lade_bag_handle *make_bag(uint8_t choice, uint8_t capacity, struct lade_bag **bag)
{
    struct lade_bag_config c = {.capacity = (uint64_t)capacity + 1, .handles = 1, .max_times_sampled = 3};
    struct lade_bag_handle *h = NULL;

    c.kind = choice & RECORDS ? LADE_BAG_RECORDS : LADE_BAG_WORDS;
    c.record_size = choice & RECORDS ? sizes[choice >> SIZE_SHIFT & 3] : 0;
    c.full = (enum lade_bag_full)((choice >> POLICY_SHIFT & 3) % 3);
    must(lade_bag_create(bag, &c) == LADE_OK);
    must(lade_bag_join(*bag, &h) == LADE_OK);
    return h;
}

static uint64_t held(struct lade_bag *bag)
{
    struct lade_bag_stats c;

    lade_bag_stats(bag, &c);
    must(c.put == c.drawn + c.evicted + c.held);
    return c.held;
}

/* What is inside, through another snapshot, comes to the same. */
static void check_again(struct lade_bag_handle *h, uint8_t choice, uint8_t capacity, uint64_t count)
{
    struct lade_bag *other;
    struct lade_bag_handle *to = make_bag(choice, capacity, &other);
    struct copy copy = {NULL, 0};

    must(lade_bag_snapshot(h, write_copy, &copy, NULL) == LADE_OK);
    struct stream s = {copy.bytes, copy.size, 0};
    must(lade_bag_restore(to, read_stream, &s, NULL) == LADE_OK);
    must(s.at == copy.size && held(other) == count);
    free(copy.bytes);
    lade_bag_destroy(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char record[LADE_BAG_BLOCK];
    struct lade_bag *bag;
    struct lade_loan loan;
    struct lade_error error = {.offset = 0};
    uint64_t word = 0, drawn = 0;

    if (size < 2)
        return 0;
    unchecked = data[0] & UNCHECKED;
    struct lade_bag_handle *h = make_bag(data[0], data[1], &bag);
    struct stream s = {data + 2, size - 2, 0};
    int status = lade_bag_restore(h, read_stream, &s, &error);
    must(status == LADE_OK || status == LADE_DAMAGED || status == LADE_IO || status == LADE_FULL);
    must(error.offset <= s.at && error.status == status);
    uint64_t count = held(bag);
    must(count <= (uint64_t)data[1] + 1);
    check_again(h, data[0], data[1], count);
    if (lade_bag_sample(h, &loan) == LADE_OK)
        lade_bag_give_back(h, &loan);
    count = held(bag);
    while (lade_bag_draw(h, data[0] & RECORDS ? (void *)record : &word) == LADE_OK) {
        drawn++;
        must(data[0] & RECORDS || (word >= 1 && word <= LADE_BAG_WORD_MAX));
    }
    must(drawn == count && held(bag) == 0);
    lade_bag_destroy(bag);
    return 0;
}

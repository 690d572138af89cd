/* SPDX-License-Identifier: MIT */
/* Snapshots: restore gives exactly the elements that were written, and rejects everything else. */
#include "bags.h"

struct stream {
    unsigned char bytes[1 << 20];
    size_t size, at;
    int calls, fail_at; /* number of the call that fails, from 1 */
};

static struct stream stream;

static bool stream_write(void *context, const void *bytes, size_t size)
{
    struct stream *s = context;

    cr_assert_leq(size, sizeof s->bytes - s->size);
    if (++s->calls == s->fail_at)
        return false;
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return true;
}

static bool stream_read(void *context, void *bytes, size_t size)
{
    struct stream *s = context;

    if (size > s->size - s->at)
        return false;
    memcpy(bytes, s->bytes + s->at, size);
    s->at += size;
    return true;
}

static struct lade_bag *words_bag(uint64_t capacity)
{
    return make_bag((struct lade_bag_config){.capacity = capacity});
}

static int restore(struct lade_bag *bag, uint64_t *offset)
{
    struct lade_bag_handle *h = join_bag(bag);

    stream.at = 0;
    struct lade_error error = {.status = LADE_OK};
    int status = lade_bag_restore(h, stream_read, &stream, &error);
    cr_assert_eq(error.status, status);
    cr_assert(status == LADE_OK || strncmp(error.text, "snapshot: ", 10) == 0);
    if (offset)
        *offset = status == LADE_OK ? stream.at : error.offset;
    lade_bag_leave(h);
    return status;
}

static void snapshot(struct lade_bag *bag)
{
    struct lade_bag_handle *h = join_bag(bag);

    memset(&stream, 0, sizeof stream);
    cr_assert_eq(lade_bag_snapshot(h, stream_write, &stream, NULL), LADE_OK);
    lade_bag_leave(h);
}

/* Three words; two records of five bytes, oldest first, the first of them sampled 258 times. */
static const unsigned char golden_words[] = {
    0x6c, 0x61, 0x64, 0x65, 0x62, 0x61, 0x67, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x79, 0xf8, 0xa3, 0x9e, 0x03, 0x00, 0x00, 0x00, 0x27, 0xfc, 0xca, 0x26,
    0xb7, 0x33, 0xbe, 0xbb, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xbc, 0x9a,
    0x78, 0x56, 0x34, 0x12, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0xe3, 0x35, 0x6c, 0x57, 0x3d, 0x67, 0x65, 0xc5, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
static const unsigned char golden_records[] = {
    0x6c, 0x61, 0x64, 0x65, 0x62, 0x61, 0x67, 0x0a, 0x01, 0x00, 0x02, 0x00, 0x01, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x55, 0x7d, 0xc6, 0x2d, 0x02, 0x00, 0x00, 0x00, 0x89, 0xb3, 0x66, 0x5d, 0x8b, 0xd8,
    0x80, 0x43, 0x02, 0x01, 0x66, 0x69, 0x72, 0x73, 0x74, 0x00, 0x00, 0x6c, 0x61, 0x73, 0x74, 0x2e, 0x00, 0x00, 0x00,
    0x00, 0xc4, 0x48, 0x50, 0x1e, 0x50, 0x92, 0x77, 0x1e, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

Test(bag_snapshot, the_bytes_are_as_agreed)
{
    struct lade_bag *bag = words_bag(100);
    struct lade_bag_handle *h = join_bag(bag);
    const uint64_t words[] = {1, UINT64_C(0x123456789abc), LADE_BAG_WORD_MAX};

    cr_assert_eq(lade_bag_put_many(h, words, 3), 3);
    snapshot(bag);
    cr_assert_eq(stream.size, sizeof golden_words);
    cr_assert_arr_eq(stream.bytes, golden_words, sizeof golden_words);
    lade_bag_destroy(bag);

    bag = make_bag((struct lade_bag_config){
        .capacity = 3, .kind = LADE_BAG_RECORDS, .record_size = 5, .full = LADE_BAG_EVICT_OLDEST});
    h = join_bag(bag);
    cr_assert_eq(lade_bag_put(h, "lost."), LADE_OK);
    cr_assert_eq(lade_bag_drain(h), 1);
    cr_assert_eq(lade_bag_put(h, "first"), LADE_OK);
    for (int i = 0; i < 258; i++) {
        struct lade_loan loan;
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
        lade_bag_give_back(h, &loan);
    }
    cr_assert_eq(lade_bag_put(h, "last."), LADE_OK);
    snapshot(bag);
    cr_assert_eq(stream.size, sizeof golden_records);
    cr_assert_arr_eq(stream.bytes, golden_records, sizeof golden_records);
    lade_bag_destroy(bag);
}

static bool sum_words(void *context, const void *element)
{
    uint64_t word, *sum = context;

    memcpy(&word, element, sizeof word);
    *sum += word;
    return true;
}

Test(bag_snapshot, old_snapshots_can_be_read)
{
    struct lade_bag *bag = words_bag(3);
    struct lade_bag_handle *h = join_bag(bag);
    uint64_t offset = 0, sum = 0;

    memcpy(stream.bytes, golden_words, sizeof golden_words);
    stream.size = sizeof golden_words + 10; /* bytes after it are not read */
    cr_assert_eq(restore(bag, &offset), LADE_OK);
    cr_assert_eq(offset, sizeof golden_words);
    cr_assert_eq(stream.at, sizeof golden_words);
    uint64_t visited = 0;
    cr_assert_eq(lade_bag_for_each(h, sum_words, &sum, &visited), LADE_OK);
    cr_assert_eq(visited, 3);
    cr_assert_eq(sum, 1 + UINT64_C(0x123456789abc) + LADE_BAG_WORD_MAX);
    lade_bag_destroy(bag);
}

/* Through the stream into another bag: the same elements, sampled as often, in the same order of age. */
static void check_round_trip(enum lade_bag_kind kind, enum lade_bag_full full, uint64_t count)
{
    struct lade_bag_config c = {
        .capacity = count ? count : 1, .kind = kind, .full = full, .max_times_sampled = 9, .seed = count};
    struct lade_bag *from = make_bag(c), *to = make_bag(c);
    struct lade_bag_handle *h = join_bag(from);
    struct lade_loan loan;
    unsigned times[NUMBERS] = {0};
    uint64_t offset = 0, number = 0;

    for (uint64_t n = 1; n <= count; n++)
        cr_assert_eq(put_number(h, kind, n), LADE_OK);
    for (uint64_t i = 0; i < count; i++) {
        cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
        number = kind == LADE_BAG_RECORDS ? number_of(kind, loan.record) : loan.word;
        times[number]++;
        lade_bag_give_back(h, &loan);
    }
    uint64_t held = stats_of(from).held;
    snapshot(from);
    cr_assert_eq(stats_of(from).held, held);
    cr_assert_eq(restore(to, &offset), LADE_OK);
    cr_assert_eq(offset, stream.size);
    cr_assert_eq(stats_of(to).put, held);
    lade_bag_leave(h);
    h = join_bag(to);
    if (full == LADE_BAG_EVICT_OLDEST && held == count) /* the ages are kept: the next put evicts the first */
        for (uint64_t n = 1; n <= count; n++) {
            struct lade_bag_stats before = stats_of(to);
            cr_assert_eq(put_number(h, kind, 2000 + n), LADE_OK);
            cr_assert_eq(stats_of(to).evicted, before.evicted + 1);
        }
    else
        for (; held > 0;) {
            cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
            number = kind == LADE_BAG_RECORDS ? number_of(kind, loan.record) : loan.word;
            cr_assert_eq(loan.times, ++times[number]);
            held -= loan.times == 9;
            lade_bag_give_back(h, &loan);
        }
    lade_bag_drain(h);
    lade_bag_destroy(from);
    lade_bag_destroy(to);
}

Test(bag_snapshot, is_restored_unchanged)
{
    static const uint64_t counts[] = {0, 1, 2, 64, 157, 158, 159, 408, 409, 410, 1000};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++) {
            check_round_trip(LADE_BAG_WORDS, (enum lade_bag_full)full, counts[i]);
            check_round_trip(LADE_BAG_RECORDS, (enum lade_bag_full)full, counts[i]);
        }
}

/* Cells that come back as sampled before are free again after they are drawn, however often. */
Test(bag_snapshot, restored_cells_do_not_run_out)
{
    for (int full = LADE_BAG_REJECT; full <= LADE_BAG_EVICT_OLDEST; full++) {
        struct lade_bag *bag = make_bag(
            (struct lade_bag_config){.capacity = 3, .kind = LADE_BAG_RECORDS, .full = (enum lade_bag_full)full});
        struct lade_bag_handle *h = join_bag(bag);
        struct lade_loan loan;
        uint64_t number = 0;
        for (uint64_t n = 1; n <= 3; n++)
            cr_assert_eq(put_number(h, LADE_BAG_RECORDS, n), LADE_OK);
        for (int i = 0; i < 20; i++) {
            cr_assert_eq(lade_bag_sample(h, &loan), LADE_OK);
            lade_bag_give_back(h, &loan);
        }
        snapshot(bag);
        for (int round = 0; round < 100; round++) {
            if (full == LADE_BAG_REJECT)
                (void)lade_bag_drain(h);
            cr_assert_eq(restore(bag, NULL), LADE_OK);
            cr_assert_eq(restore(bag, NULL), full == LADE_BAG_REJECT ? LADE_FULL : LADE_OK);
            cr_assert_eq(stats_of(bag).held, 3);
            bool seen[4] = {false};
            for (int i = 0; i < 3 && round % 3 == 0; i++) {
                cr_assert_eq(draw_number(h, LADE_BAG_RECORDS, &number), LADE_OK);
                cr_assert(number <= 3 && (full == LADE_BAG_EVICT_UNIFORM || !seen[number]));
                seen[number] = true;
            }
        }
        lade_bag_close(bag);
        cr_assert_eq(restore(bag, NULL), LADE_CLOSED);
        lade_bag_destroy(bag);
    }
}

/* Records larger than a block. */
Test(bag_snapshot, large_records)
{
    static const size_t sizes[] = {4093, 4094, 4095, 4096, 10000};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct lade_bag_config c = {.capacity = 5, .kind = LADE_BAG_RECORDS, .record_size = sizes[s]};
        struct lade_bag *from = make_bag(c), *to = make_bag(c);
        struct lade_bag_handle *h = join_bag(from);
        unsigned char record[10000];
        uint64_t offset = 0;
        bool seen[6] = {false};
        for (int n = 1; n <= 5; n++) {
            memset(record, n, sizeof record);
            cr_assert_eq(lade_bag_put(h, record), LADE_OK);
        }
        snapshot(from);
        cr_assert_eq(restore(to, &offset), LADE_OK);
        cr_assert_eq(offset, stream.size);
        h = join_bag(to);
        for (int n = 1; n <= 5; n++) {
            cr_assert_eq(lade_bag_draw(h, record), LADE_OK);
            for (size_t i = 0; i < sizes[s]; i++)
                cr_assert_eq(record[i], record[0]);
            cr_assert(record[0] <= 5 && !seen[record[0]]);
            seen[record[0]] = true;
        }
        stream.bytes[stream.size / 2] ^= 1;
        cr_assert_eq(restore(to, &offset), LADE_DAMAGED);
        cr_assert_eq(offset, 28 + 2 * (12 + 2 + sizes[s]));
        cr_assert_eq(stats_of(to).held, 2);
        (void)lade_bag_drain(h);
        stream.bytes[stream.size / 2] ^= 1;
        stream.size -= 20 + 10; /* into the last record */
        cr_assert_eq(restore(to, &offset), LADE_IO);
        cr_assert_eq(offset, 28 + 4 * (12 + 2 + sizes[s]));
        cr_assert_eq(stats_of(to).held, 4);
        lade_bag_destroy(from);
        lade_bag_destroy(to);
    }
}

/* 500 words: a block of 409, one of 91, the end. Where each part begins, and what was put before it. */
static const struct {
    uint64_t begins, held;
} parts[] = {{0, 0}, {28, 0}, {28 + 12 + 4090, 409}, {28 + 12 + 4090 + 12 + 910, 500}};
#define WHOLE (28 + 12 + 4090 + 12 + 910 + 20)

static size_t part_of(uint64_t at)
{
    size_t part = 0;

    while (part < 3 && at >= parts[part + 1].begins)
        part++;
    return part;
}

static void make_stream(void)
{
    struct lade_bag *bag = words_bag(500);
    struct lade_bag_handle *h = join_bag(bag);

    for (uint64_t n = 1; n <= 500; n++)
        cr_assert_eq(lade_bag_put(h, &n), LADE_OK);
    snapshot(bag);
    cr_assert_eq(stream.size, WHOLE);
    lade_bag_destroy(bag);
}

Test(bag_snapshot, every_changed_byte_is_noticed)
{
    make_stream();
    struct lade_bag *bag = words_bag(500);
    struct lade_bag_handle *h = join_bag(bag);

    for (uint64_t i = 0; i < WHOLE; i++) {
        static const unsigned char flips[] = {1, 0x80, 0xff};
        uint64_t offset = 0;
        stream.bytes[i] ^= flips[i % 3];
        cr_assert_eq(restore(bag, &offset), LADE_DAMAGED);
        cr_assert_eq(offset, parts[part_of(i)].begins);
        cr_assert_eq(lade_bag_drain(h), parts[part_of(i)].held, "nothing of a damaged block is put");
        stream.bytes[i] ^= flips[i % 3];
    }
    lade_bag_destroy(bag);
}

Test(bag_snapshot, every_cut_is_noticed)
{
    make_stream();
    struct lade_bag *bag = words_bag(500);
    struct lade_bag_handle *h = join_bag(bag);

    for (uint64_t i = 0; i < WHOLE; i++) {
        uint64_t offset = 99;
        stream.size = i;
        cr_assert_eq(restore(bag, &offset), LADE_IO);
        cr_assert_eq(offset, parts[part_of(i)].begins);
        cr_assert_eq(lade_bag_drain(h), parts[part_of(i)].held);
    }
    stream.size = WHOLE;
    cr_assert_eq(restore(bag, NULL), LADE_OK);
    lade_bag_destroy(bag);
}

/* Each block is valid, but no block may be missing, repeated or moved. */
Test(bag_snapshot, blocks_keep_their_order)
{
    enum { FIRST = 28, SECOND = 28 + 4102, END = SECOND + 922 };
    struct lade_bag *bag = words_bag(2000);
    struct lade_bag_handle *h = join_bag(bag);

    make_stream();
    memmove(stream.bytes + FIRST, stream.bytes + SECOND, WHOLE - SECOND); /* without the first */
    cr_assert_eq(restore(bag, NULL), LADE_DAMAGED);
    cr_assert_eq(lade_bag_drain(h), 0);
    make_stream();
    memmove(stream.bytes + SECOND, stream.bytes + END, WHOLE - END); /* without the second */
    cr_assert_eq(restore(bag, NULL), LADE_DAMAGED);
    cr_assert_eq(lade_bag_drain(h), 409);
    make_stream();
    memmove(stream.bytes + END, stream.bytes + SECOND, WHOLE - SECOND); /* the second twice */
    stream.size += 922;
    cr_assert_eq(restore(bag, NULL), LADE_DAMAGED);
    cr_assert_eq(lade_bag_drain(h), 500);
    lade_bag_destroy(bag);
}

static uint32_t crc(uint32_t value, const unsigned char *bytes, size_t size)
{
    value = ~value;
    for (size_t i = 0; i < size; i++) {
        value ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? UINT32_C(0x82f63b78) : 0);
    }
    return ~value;
}

static void store(unsigned char *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

/* Makes the checksums of golden_words right again, after a change. */
static void repair(void)
{
    unsigned char *s = stream.bytes;
    uint32_t chain = crc(0, s, 24);

    store(s + 24, chain);
    store(s + 28 + 4, crc(0, s + 40, 30));
    chain = crc(chain, s + 28, 8);
    store(s + 36, chain);
    store(s + 70 + 4, crc(0, s + 82, 8));
    store(s + 78, crc(chain, s + 70, 8));
}

/* What a defective program, not a corrupt byte, would write. */
Test(bag_snapshot, right_checksums_do_not_make_it_right)
{
    static const struct {
        size_t at;
        unsigned char value;
        uint64_t offset;
    } wrong[] = {
        {0, 'L', 0},     /* magic */
        {8, 2, 0},       /* version */
        {10, 1, 0},      /* refs */
        {10, 2, 0},      /* records */
        {12, 2, 0},      /* unknown flag */
        {15, 1, 0},      /* unknown flag */
        {16, 9, 0},      /* element size */
        {23, 1, 0},      /* element size */
        {28, 0, 28},     /* an end whose content is three words long */
        {29, 2, 28},     /* more elements than fit into a block */
        {31, 0x80, 28},  /* more than fit anywhere */
        {42, 0, 28},     /* the word zero */
        {48 + 1, 1, 28}, /* a word too large */
        {70, 1, 70},     /* an end with an element */
        {82, 2, 70},     /* another number in all */
        {82, 4, 70},     /* another number in all */
        {89, 1, 70},     /* another number in all */
    };

    cr_assert_eq(crc(0, (const unsigned char *)"123456789", 9), UINT32_C(0xe3069283));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lade_bag *bag = words_bag(1000);
        uint64_t offset = 99;
        memcpy(stream.bytes, golden_words, sizeof golden_words);
        stream.size = sizeof golden_words;
        repair();
        cr_assert_arr_eq(stream.bytes, golden_words, sizeof golden_words);
        cr_assert_neq(stream.bytes[wrong[i].at], wrong[i].value);
        stream.bytes[wrong[i].at] = wrong[i].value;
        repair();
        stream.size = sizeof stream.bytes; /* there is enough to read */
        cr_assert_eq(restore(bag, &offset), LADE_DAMAGED);
        cr_assert_eq(offset, wrong[i].offset);
        cr_assert_eq(stats_of(bag).held, wrong[i].offset == 70 ? 3 : 0);
        lade_bag_destroy(bag);
    }
}

Test(bag_snapshot, another_kind_or_size_is_refused_before_anything_is_put)
{
    struct lade_bag *bag = words_bag(3);
    struct lade_bag_handle *h = join_bag(bag);
    struct lade_bag_config records = {.capacity = 3, .kind = LADE_BAG_RECORDS, .record_size = 8};
    uint64_t word = 5, offset = 99;

    cr_assert_eq(lade_bag_put(h, &word), LADE_OK);
    snapshot(bag);
    for (records.record_size = 8; records.record_size <= 9; records.record_size++) {
        struct lade_bag *other = make_bag(records);
        cr_assert_eq(restore(other, &offset), LADE_DAMAGED);
        cr_assert_eq(offset, 0);
        cr_assert_eq(stats_of(other).put, 0);
        lade_bag_destroy(other);
    }
    lade_bag_destroy(bag);
    bag = make_bag((struct lade_bag_config){.capacity = 3, .kind = LADE_BAG_REFS});
    h = join_bag(bag);
    offset = 99;
    cr_assert_eq(lade_bag_snapshot(h, stream_write, &stream, NULL), LADE_INVALID);
    cr_assert_eq(restore(bag, &offset), LADE_INVALID);
    cr_assert_eq(stream.at, 0);
    lade_bag_destroy(bag);
}

Test(bag_snapshot, a_bag_that_is_too_small_takes_what_it_can)
{
    make_stream();
    struct lade_bag *bag = words_bag(450);
    uint64_t offset = 0;

    cr_assert_eq(restore(bag, &offset), LADE_FULL);
    cr_assert_eq(offset, parts[2].begins);
    cr_assert_eq(stats_of(bag).held, 450);
    lade_bag_destroy(bag);
    bag = make_bag((struct lade_bag_config){.capacity = 500, .samples_per_insert = 1, .ratio_slack = 100});
    cr_assert_eq(restore(bag, &offset), LADE_LIMITED);
    cr_assert_eq(offset, parts[1].begins);
    cr_assert_eq(stats_of(bag).held, 100);
    lade_bag_destroy(bag);
}

Test(bag_snapshot, a_write_that_fails_ends_it)
{
    for (int records = 0; records < 2; records++) {
        struct lade_bag *bag =
            records ? make_bag((struct lade_bag_config){.capacity = 3, .kind = LADE_BAG_RECORDS, .record_size = 5000})
                    : words_bag(500);
        struct lade_bag_handle *h = join_bag(bag);
        unsigned char record[5000] = {1};
        uint64_t held = 0;
        for (uint64_t n = 1; lade_bag_put(h, records ? (void *)record : &n) == LADE_OK; n++)
            held++;
        memset(&stream, 0, sizeof stream);
        cr_assert_eq(lade_bag_snapshot(h, stream_write, &stream, NULL), LADE_OK);
        int calls = stream.calls;
        cr_assert_eq(calls, records ? 1 + 2 * 3 + 1 : 4);
        for (int fail = 1; fail <= calls; fail++) {
            memset(&stream, 0, sizeof stream);
            stream.fail_at = fail;
            cr_assert_eq(lade_bag_snapshot(h, stream_write, &stream, NULL), LADE_IO);
            cr_assert_eq(stream.calls, fail, "no write after one that failed");
        }
        cr_assert_eq(stats_of(bag).held, held);
        cr_assert_eq(lade_bag_drain(h), held);
        lade_bag_destroy(bag);
    }
}

/* SPDX-License-Identifier: MIT */
/* Substitutes of samples that cannot be read, in parts that are a tiny share of their source. */
#include "loads.h"

#include "order.h"

enum { COUNT = 1000000 };

static uint64_t keys_asked;

static uint64_t counted_key(void *self, uint64_t i)
{
    (void)self;
    keys_asked++;
    return i;
}

/* Numbers as in loads.h with counted calls of key: each stands for a query of the split. */
static struct lade_source *counted(uint64_t count)
{
    const struct lade_source_ops ops = {.read = read_number, .key = counted_key, .close = free};
    const struct lade_source_info info = {
        .kind = "numbers", .count = count, .shape = {LADE_U8, 1, {16}}, .bytes = 16, .classes = 10};
    struct numbered *self = calloc(1, sizeof *self);
    struct lade_source *source;

    cr_assert(self);
    cr_assert_eq(lade_source_open_custom(&source, &ops, self, &info, NULL, NULL), LADE_OK);
    return source;
}

/* A split whose part 0 has exactly this many samples, and which they are. */
static struct lade_split *split_with(uint64_t members, uint64_t count, uint64_t *member)
{
    const uint32_t weights[2] = {(uint32_t)members, (uint32_t)(count - members)};

    for (uint64_t seed = 0;; seed++) {
        const struct lade_split_config config = {
            .parts = 2, .weights = weights, .store = LADE_SPLIT_PURE, .seed = seed};
        struct lade_split *split;
        uint64_t found = 0;
        cr_assert_eq(lade_split_create(&split, &config, NULL), LADE_OK);
        for (uint64_t i = 0; i < count && found <= members; i++) {
            unsigned part = 9;
            cr_assert_eq(lade_split_route_word(split, i, &part), LADE_OK);
            if (part == 0 && found++ < members)
                member[found - 1] = i;
        }
        if (found == members)
            return split;
        lade_split_destroy(split);
    }
}

static bool is_one_of(uint64_t id, const uint64_t *member, uint64_t members)
{
    for (uint64_t i = 0; i < members; i++)
        if (member[i] == id)
            return true;
    return false;
}

/* Drawing numbers until one is in the part would query the split a million times for one member. */
Test(order, a_substitute_of_a_tiny_part_is_found_at_once)
{
    struct lade_source *source = counted(COUNT);

    for (uint64_t members = 1; members <= 3; members++) {
        uint64_t member[3], seen[3] = {0};
        struct lade_split *split = split_with(members, COUNT, member);
        const struct lade_loader_config config = {
            .source = source, .split = split, .seed = members, .fault = LADE_FAULT_SUBSTITUTE};
        struct lade_order order;
        cr_assert_eq(lade_order_init(&order, &config, NULL), LADE_OK);
        cr_assert_eq(order.members, members);
        keys_asked = 0;
        for (uint64_t attempt = 0; attempt < 100; attempt++) {
            uint64_t other = lade_order_substitute(&order, 2, member[0], attempt);
            cr_assert_eq(keys_asked, 0, "the split was asked %llu times", (unsigned long long)keys_asked);
            cr_assert(is_one_of(other, member, members), "%llu is of another part", (unsigned long long)other);
            cr_assert_eq(other, lade_order_substitute(&order, 2, member[0], attempt), "it depends on something else");
            for (uint64_t i = 0; i < members; i++)
                seen[i] += member[i] == other;
        }
        for (uint64_t i = 0; i < members; i++)
            cr_assert_geq(seen[i], 10);
        lade_order_free(&order);
        lade_split_destroy(split);
    }
    lade_source_close(source);
}

/* A part that is too large for a list: still no sample of another part. */
Test(order, substitutes_of_a_large_part_are_of_that_part)
{
    struct lade_source *source = counted(COUNT);
    const uint32_t weights[2] = {1, 9};
    const struct lade_split_config half = {.parts = 2, .weights = weights, .store = LADE_SPLIT_PURE};
    struct lade_split *split;
    struct lade_order order;

    cr_assert_eq(lade_split_create(&split, &half, NULL), LADE_OK);
    const struct lade_loader_config config = {.source = source, .split = split, .fault = LADE_FAULT_SUBSTITUTE};
    cr_assert_eq(lade_order_init(&order, &config, NULL), LADE_OK);
    cr_assert_gt(order.members, UINT64_C(1) << 16);
    for (uint64_t id = 0; id < 1000; id++) {
        unsigned part = 9;
        cr_assert_eq(lade_split_route_word(split, lade_order_substitute(&order, 0, id, 0), &part), LADE_OK);
        cr_assert_eq(part, 0);
    }
    lade_order_free(&order);
    lade_split_destroy(split);
    lade_source_close(source);
}

static int fail_but_one(void *context, uint64_t i)
{
    return i == *(const uint64_t *)context ? LADE_OK : LADE_DAMAGED;
}

/*
 * One of three members can be read: it is delivered three times. None can be read, or the part has one sample: an
 * error.
 */
Test(order, a_part_of_which_little_can_be_read)
{
    enum { SOME = 3000 };

    for (uint64_t members = 1; members <= 3; members += 2) {
        uint64_t member[3], good = SOME;
        struct lade_split *split = split_with(members, SOME, member);
        struct lade_source *source = numbers_with(SOME, fail_but_one, &good);
        const struct lade_loader_config config = {.source = source,
                                                  .split = split,
                                                  .batch = 4,
                                                  .threads = 2,
                                                  .in_order = true,
                                                  .epochs = 1,
                                                  .fault = LADE_FAULT_SUBSTITUTE};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, &error), LADE_DAMAGED);
        cr_assert(error.status == LADE_DAMAGED && strcmp(error.text, "as the test wants") == 0, "%s", error.text);
        lade_loader_destroy(l);

        good = member[members / 2];
        l = open_loader(&config);
        b = next_of(l);
        cr_assert(b.count == members && b.faults == members - 1);
        for (uint64_t i = 0; i < members; i++)
            cr_assert_eq(b.ids[i], good);
        lade_loader_release(l, &b);
        cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
        lade_loader_destroy(l);
        lade_source_close(source);
        lade_split_destroy(split);
    }
}

/* The samples of an epoch are those of the permutation, in steps of any length, for one shard and for several. */
Test(order, is_the_permutation_of_its_seed)
{
    static const uint64_t counts[] = {1, 200, 300, 10000, 100000, 2000000};
    enum { PURPOSE = 0x7264726f, SOME = 5000 };
    static uint64_t ids[SOME];

    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (unsigned shards = 1; shards <= 3; shards++) {
            struct lade_source *source = counted(counts[c]);
            const struct lade_loader_config config = {
                .source = source, .seed = 5, .shards = shards, .shard = shards - 1, .pad = true};
            struct lade_order order;
            struct lade_walk walk = {.ready = false};
            cr_assert_eq(lade_order_init(&order, &config, NULL), LADE_OK);
            for (uint64_t epoch = 0; epoch < 3; epoch++) {
                struct lade_cursor cursor = {.epoch = epoch};
                struct lade_permutation p;
                cr_assert_eq(lade_permutation_init(&p, lade_key_make(5, epoch, PURPOSE), counts[c]), LADE_OK);
                for (uint64_t i = 0, step = 1; i < SOME && lade_order_left(&order, &cursor) > 0;
                     step = step * 3 % 101) {
                    uint64_t n = lade_order_left(&order, &cursor);
                    n = n < step ? n : step;
                    n = n < SOME - i ? n : SOME - i;
                    lade_order_take(&order, &walk, &cursor, ids, n);
                    cr_assert_eq(lade_order_mine(&order, &cursor), i + n);
                    for (uint64_t k = 0; k < n; k++, i++)
                        cr_assert_eq(ids[k], lade_permutation_at(&p, (i * shards + shards - 1) % counts[c]));
                }
            }
            lade_walk_free(&walk, NULL);
            lade_order_free(&order);
            lade_source_close(source);
        }
}

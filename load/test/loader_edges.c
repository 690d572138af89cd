/* SPDX-License-Identifier: MIT */
/* Loaders at the limits of their configuration. */
#include "states.h"

Test(loader_edges, numbers_out_of_range)
{
    struct lade_source *source = numbers(100);
    const struct lade_loader_config wrong[] = {
        {.source = source, .batch = 1, .replaced_max = LADE_LOADER_REPLACED_MAX + 1},
        {.source = source, .batch = 1, .replaced_max = UINT32_MAX},
        {.source = source, .batch = 1, .align = 2 * LADE_LOADER_ALIGN_MAX},
        {.source = source, .batch = 1, .align = SIZE_MAX / 2 + 1},
        {.source = source, .batch = 1, .fault = (enum lade_fault)3},
        {.source = source, .batch = 1, .draw = (enum lade_draw_kind)3},
        {.source = source, .batch = 1, .buffer = 2, .consumer_assists = true},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct lade_loader *l;
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_loader_create(&l, &wrong[i], &error), LADE_INVALID, "case %zu", i);
        cr_assert(error.text[0] != '\0' && error.status == LADE_INVALID, "case %zu", i);
    }
    lade_source_close(source);
}

/* The largest valid values work, with the longest timeouts. */
Test(loader_edges, most_of_everything)
{
    struct lade_source *source = numbers(3000);
    const struct lade_loader_config config = {.source = source,
                                              .batch = 1,
                                              .threads = LADE_LOADER_THREADS_MAX,
                                              .slots = LADE_LOADER_SLOTS_MAX,
                                              .replaced_max = LADE_LOADER_REPLACED_MAX,
                                              .worker_timeout = INT64_MAX,
                                              .align = 4096,
                                              .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;
    struct tally t;

    tally_init(&t, 3000);
    while (lade_loader_next(l, &b, INT64_MAX, NULL) == LADE_OK) {
        cr_assert_eq((uintptr_t)b.samples % 4096, 0);
        tally_add(&t, &b);
        lade_loader_release(l, &b);
    }
    tally_expect(&t, 1);
    tally_free(&t);
    cr_assert_eq(lade_loader_stop(l, INT64_MAX), LADE_OK);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* More shards than samples: with padding each has one; otherwise there are none. */
Test(loader_edges, more_shards_than_samples)
{
    struct lade_source *source = numbers(3);
    struct lade_split *split = fifths(2);
    struct tally t;

    for (int parted = 0; parted < 2; parted++) {
        struct lade_loader_config config = {.source = source,
                                            .split = parted ? split : NULL,
                                            .batch = 4,
                                            .threads = 2,
                                            .epochs = 2,
                                            .shards = 7,
                                            .pad = true};
        uint32_t members = 0;
        tally_init(&t, 3);
        for (config.shard = 0; config.shard < 7; config.shard++)
            free(leave_after(open_loader(&config), UINT64_MAX, &t));
        for (uint64_t i = 0; i < 3; i++)
            members += is_in(config.split, 0, i);
        uint32_t all = t.seen[0] + t.seen[1] + t.seen[2];
        cr_assert(members > 0 && all == 14, "%u", all);
        for (uint64_t i = 0; i < 3; i++) /* 7 numbers wrap around the members, in either epoch */
            cr_assert(is_in(config.split, 0, i) ? t.seen[i] >= 2 * (7 / members) && t.seen[i] <= 2 * (7 / members + 1)
                                                : t.seen[i] == 0);
        tally_free(&t);
        config.pad = false;
        config.shard = 6;
        struct lade_loader *l;
        struct lade_error error;
        cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_EMPTY);
        cr_assert_eq(error.status, LADE_EMPTY);
    }
    lade_split_destroy(split);
    lade_source_close(source);
}

static int read_badly(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)error;
    memcpy(to, &i, sizeof i);
    *label = i == 7 ? *(const int64_t *)self : 0;
    return LADE_OK;
}

/* A custom source may return anything. */
Test(loader_edges, labels_outside_the_classes)
{
    static const struct lade_source_ops ops = {.read = read_badly};
    const struct lade_source_info info = {
        .kind = "numbers", .count = 20, .shape = {LADE_U64, 0, {0}}, .bytes = 8, .classes = 4};
    static int64_t label[] = {4, 5, -1, INT64_MAX, INT64_MIN};

    for (size_t i = 0; i < sizeof label / sizeof label[0]; i++) {
        struct lade_source *source;
        struct lade_loader *l;
        struct lade_error error = {.text = ""};
        cr_assert_eq(lade_source_open_custom(&source, &ops, &label[i], &info, NULL, NULL), LADE_OK);
        const struct lade_loader_config config = {
            .source = source, .batch = 5, .threads = 1, .draw = LADE_DRAW_BALANCED};
        cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_DAMAGED);
        cr_assert(strstr(error.text, "sample 7") != NULL, "%s", error.text);
        lade_source_close(source);
    }
}

/* All samples with weight are in the other part. */
Test(loader_edges, weights_elsewhere)
{
    struct lade_source *source = numbers(50);
    struct lade_split *split = fifths(2);
    double weight[50];
    struct lade_loader *l;
    struct lade_error error = {.text = ""};

    for (uint64_t i = 0; i < 50; i++)
        weight[i] = !is_in(split, 0, i);
    struct lade_loader_config config = {
        .source = source, .split = split, .batch = 5, .threads = 1, .draw = LADE_DRAW_WEIGHTED, .weight = weight};
    cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "weights") != NULL);
    config.part = 1;
    l = open_loader(&config);
    struct lade_batch b = next_of(l);
    for (uint64_t i = 0; i < b.count; i++)
        cr_assert(is_in(split, 1, b.ids[i]));
    lade_loader_destroy(l);
    lade_split_destroy(split);
    lade_source_close(source);
}

/* A sample that a quota rejects is in no part. */
Test(loader_edges, samples_in_no_part)
{
    static const uint64_t quota[2] = {30, 20};
    const struct lade_split_config exact = {.parts = 2, .rule = LADE_SPLIT_QUOTA, .classes = 1, .quota = quota};
    struct lade_source *source = numbers(60);
    struct lade_split *split;
    uint64_t count = 0;

    cr_assert_eq(lade_split_create(&split, &exact, NULL), LADE_OK);
    for (unsigned part = 0; part < 2; part++) {
        struct lade_loader_config config = {
            .source = source, .split = split, .part = part, .batch = 7, .threads = 3, .epochs = 1};
        struct lade_loader *l = open_loader(&config);
        struct tally t;
        tally_init(&t, 60);
        free(leave_after(l, UINT64_MAX, &t));
        for (uint64_t i = 0; i < 60; i++)
            count += t.seen[i];
        cr_assert_eq(count, part == 0 ? 30 : 50, "ten samples are in no part");
        tally_free(&t);
    }
    lade_split_destroy(split);
    lade_source_close(source);
}

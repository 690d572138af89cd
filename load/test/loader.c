/* SPDX-License-Identifier: MIT */
#include <lade/loader.h>

#include "states.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Each sample of each epoch is delivered once, whatever the shape of the batches. */
Test(loader, exactly_once)
{
    static const struct {
        uint64_t count, batch;
        unsigned threads, slots;
        bool in_order, sequential, consumer_assists;
    } cases[] = {{1000, 7, 1, 1, true, false, false},   {1000, 128, 2, 0, true, false, false},
                 {1000, 64, 3, 2, false, false, false}, {5, 8, 2, 4, false, false, false},
                 {257, 1, 8, 3, false, false, false},   {1, 1, 2, 1, true, false, false},
                 {300, 100, 64, 0, true, true, false},  {4096, 4096, 2, 1, true, false, false},
                 {1000, 10, 1, 2, true, false, true},   {1000, 10, 3, 2, false, false, true}};

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct lade_source *source = numbers(cases[c].count);
        struct lade_loader_config config = {.source = source,
                                            .batch = cases[c].batch,
                                            .threads = cases[c].threads,
                                            .slots = cases[c].slots,
                                            .in_order = cases[c].in_order,
                                            .sequential = cases[c].sequential,
                                            .consumer_assists = cases[c].consumer_assists,
                                            .epochs = 3,
                                            .seed = c};
        struct lade_loader *l = open_loader(&config);
        struct tally t;
        tally_init(&t, cases[c].count);
        for (uint64_t epoch = 0; epoch < 3; epoch++) {
            uint64_t expected = 0;
            while (expected < cases[c].count) {
                struct lade_batch b = next_of(l);
                cr_assert_eq(b.epoch, epoch);
                cr_assert_eq(b.count, cases[c].count - expected < cases[c].batch && cases[c].in_order
                                          ? cases[c].count - expected
                                          : b.count);
                if (cases[c].sequential)
                    cr_assert_eq(b.ids[0], expected);
                tally_add(&t, &b);
                expected += b.count;
                cr_assert(!cases[c].in_order || b.last == (expected == cases[c].count));
                lade_loader_release(l, &b);
            }
            tally_expect(&t, (uint32_t)epoch + 1);
        }
        struct lade_batch b;
        cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
        cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_CLOSED);
        lade_loader_destroy(l);
        tally_free(&t);
        lade_source_close(source);
    }
}

static int jitter(void *context, const struct lade_image *input, const void *from, const struct lade_image *output,
                  void *to, struct lade_random *random, struct lade_error *error)
{
    (void)error;
    const volatile unsigned char *bytes = from;
    (void)context;
    (void)output;
    /* Some samples take much longer than others, so that workers overtake each other. */
    for (uint64_t i = lade_random_below(random, 8) == 0 ? 20000 : 10; i > 0; i--)
        (void)bytes[0];
    memcpy(to, from, lade_image_bytes(input));
    ((unsigned char *)to)[0] = (unsigned char)lade_random_word(random);
    return LADE_OK;
}

/* All bytes of two epochs, labels and ids, with random transforms. */
static uint64_t content(unsigned threads, bool delays)
{
    struct lade_source *source = open_source("synthetic:count=700,shape=3x8x8");
    const struct lade_image form = {LADE_U8, LADE_CHW, 8, 8, 3};
    struct lade_pipeline *pipeline;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    cr_assert_eq(lade_pipeline_crop_random(pipeline, 2, 8, 8), LADE_OK);
    cr_assert_eq(lade_pipeline_flip(pipeline), LADE_OK);
    cr_assert(!delays || lade_pipeline_call(pipeline, jitter, NULL, &form) == LADE_OK);
    struct lade_loader_config config = {.source = source,
                                        .pipeline = pipeline,
                                        .batch = 32,
                                        .threads = threads,
                                        .in_order = true,
                                        .epochs = 2,
                                        .seed = 9};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        hash = hash_of(hash, b.samples, (size_t)b.count * b.sample_bytes);
        hash = hash_of(hash, b.labels, (size_t)b.count * sizeof *b.labels);
        hash = hash_of(hash, b.ids, (size_t)b.count * sizeof *b.ids);
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    lade_pipeline_destroy(pipeline);
    lade_source_close(source);
    return hash;
}

Test(loader, same_bytes_for_any_number_of_threads)
{
    static const unsigned threads[] = {1, 2, 3, 8, 64};
    uint64_t plain = content(1, false), delayed = content(1, true);

    cr_assert_neq(plain, delayed);
    for (size_t i = 1; i < sizeof threads / sizeof threads[0]; i++) {
        cr_assert_eq(content(threads[i], false), plain, "%u threads", threads[i]);
        cr_assert_eq(content(threads[i], true), delayed, "%u threads with delays", threads[i]);
    }
}

/* A release of the library must not change the order unnoticed. Computed by an independent implementation in Python. */
Test(loader, golden_order)
{
    static const struct {
        uint64_t count, seed, epoch, ids[8];
    } golden[] = {
        {100, 1, 0, {73, 4, 59, 55, 38, 37, 80, 54}},
        {100, 1, 1, {87, 93, 29, 78, 46, 53, 95, 36}},
        {100, 0, 0, {74, 59, 96, 90, 37, 6, 9, 53}},
        {1000000, 1, 0, {424709, 4028, 803586, 297096, 337589, 376950, 848088, 740104}},
        {1000003, 77, 0, {819179, 936207, 198436, 769000, 699822, 416068, 856770, 211515}},
    };
    for (size_t g = 0; g < sizeof golden / sizeof golden[0]; g++) {
        struct lade_source *source = numbers(golden[g].count);
        struct lade_loader_config config = {
            .source = source, .batch = 8, .threads = 2, .in_order = true, .seed = golden[g].seed, .drop_last = true};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b = next_of(l);
        while (b.epoch != golden[g].epoch) {
            lade_loader_release(l, &b);
            b = next_of(l);
        }
        for (int i = 0; i < 8; i++)
            cr_expect_eq(b.ids[i], golden[g].ids[i], "golden %zu: %d is %llu", g, i, (unsigned long long)b.ids[i]);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

Test(loader, parts_are_those_of_the_split)
{
    static const uint32_t weights[3] = {3, 1, 1};
    const struct lade_split_config pure = {.parts = 3, .weights = weights, .store = LADE_SPLIT_PURE, .seed = 5},
                                   exact = {.parts = 3, .weights = weights, .rule = LADE_SPLIT_COIN, .seed = 5};
    const struct lade_split_config *kinds[] = {&pure, &exact};
    struct lade_source *source = numbers(2000);

    for (size_t k = 0; k < 2; k++) {
        struct lade_split *split;
        struct tally t;
        cr_assert_eq(lade_split_create(&split, kinds[k], NULL), LADE_OK);
        tally_init(&t, 2000);
        for (unsigned part = 0; part < 3; part++) {
            struct lade_loader_config config = {.source = source,
                                                .split = split,
                                                .part = part,
                                                .batch = 50,
                                                .threads = 2,
                                                .in_order = true,
                                                .epochs = 1};
            struct lade_loader *l = open_loader(&config);
            struct lade_loader_stats stats;
            struct lade_batch b;
            uint64_t count = 0;
            lade_loader_stats(l, &stats);
            while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
                tally_add(&t, &b);
                count += b.count;
                if (k == 0)
                    for (uint64_t i = 0; i < b.count; i++) {
                        unsigned where = 99;
                        cr_assert_eq(lade_split_route_word(split, b.ids[i], &where), LADE_OK);
                        cr_assert_eq(where, part);
                    }
                lade_loader_release(l, &b);
            }
            cr_assert_eq(stats.samples, count);
            cr_assert_eq(stats.part, count);
            cr_assert(part ? count > 250 && count < 550 : count > 1050 && count < 1350, "part %u has %llu", part,
                      (unsigned long long)count);
            lade_loader_destroy(l);
        }
        tally_expect(&t, 1);
        tally_free(&t);
        lade_split_destroy(split);
    }
    lade_source_close(source);
}

/* Shards are equally long; fewer samples than there are shards are dropped or repeated. */
Test(loader, shards)
{
    for (unsigned shards = 1; shards <= 7; shards += 3)
        for (int pad = 0; pad < 2; pad++) {
            struct lade_source *source = numbers(103);
            struct tally t;
            uint64_t total = 0, length = pad ? (103 + shards - 1) / shards : 103 / shards;
            tally_init(&t, 103);
            for (unsigned r = 0; r < shards; r++) {
                struct lade_loader_config config = {.source = source,
                                                    .batch = 10,
                                                    .threads = 2,
                                                    .in_order = r % 2,
                                                    .epochs = 1,
                                                    .shard = r,
                                                    .shards = shards,
                                                    .pad = pad};
                struct lade_loader *l = open_loader(&config);
                struct lade_batch b;
                uint64_t mine = 0;
                while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
                    tally_add(&t, &b);
                    mine += b.count;
                    lade_loader_release(l, &b);
                }
                cr_assert_eq(mine, length);
                total += mine;
                lade_loader_destroy(l);
            }
            uint64_t zero = 0, twice = 0;
            for (uint64_t i = 0; i < 103; i++) {
                zero += t.seen[i] == 0;
                twice += t.seen[i] == 2;
                cr_assert_leq(t.seen[i], 2);
            }
            cr_assert_eq(zero, pad ? 0 : 103 - total);
            cr_assert_eq(twice, pad ? total - 103 : 0);
            tally_free(&t);
            lade_source_close(source);
        }
}

Test(loader, last_batch_is_dropped)
{
    struct lade_source *source = numbers(25);
    struct lade_loader_config config = {
        .source = source, .batch = 10, .threads = 2, .in_order = true, .epochs = 2, .drop_last = true};
    struct lade_loader *l = open_loader(&config);

    for (int i = 0; i < 4; i++) {
        struct lade_batch b = next_of(l);
        cr_assert_eq(b.count, 10);
        cr_assert_eq(b.epoch, (uint64_t)i / 2);
        cr_assert_eq(b.last, i % 2);
        lade_loader_release(l, &b);
    }
    struct lade_batch b;
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
    lade_loader_destroy(l);
    config.batch = 26;
    struct lade_error error;
    cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_EMPTY);
    lade_source_close(source);
}

Test(loader, draws_by_weight)
{
    struct lade_source *source = numbers(4);
    const double weight[4] = {0, 1, 2, 5};
    struct lade_loader_config config = {.source = source,
                                        .batch = 4,
                                        .threads = 2,
                                        .in_order = true,
                                        .epochs = 5000,
                                        .draw = LADE_DRAW_WEIGHTED,
                                        .weight = weight,
                                        .seed = 3};
    struct lade_loader *l = open_loader(&config);
    uint64_t count[4] = {0};
    struct lade_batch b;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        for (uint64_t i = 0; i < b.count; i++)
            count[b.ids[i]]++;
        lade_loader_release(l, &b);
    }
    /* 20,000 draws: 7 standard deviations are at most 500. */
    cr_assert_eq(count[0], 0);
    cr_assert(llabs((long long)count[1] - 2500) < 350, "%llu", (unsigned long long)count[1]);
    cr_assert(llabs((long long)count[2] - 5000) < 450, "%llu", (unsigned long long)count[2]);
    cr_assert(llabs((long long)count[3] - 12500) < 500, "%llu", (unsigned long long)count[3]);
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader, draws_balance_classes)
{
    struct lade_source *source = open_source("synthetic:count=2000,classes=4,skew=9,shape=4");
    struct lade_loader_config config = {
        .source = source, .batch = 100, .threads = 2, .epochs = 10, .draw = LADE_DRAW_BALANCED, .seed = 1};
    struct lade_loader *l = open_loader(&config);
    uint64_t count[4] = {0};
    struct lade_batch b;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        for (uint64_t i = 0; i < b.count; i++)
            count[b.labels[i]]++;
        lade_loader_release(l, &b);
    }
    /* 20,000 draws of probability 1/4: 7 standard deviations are 429; the source itself has 45 % of the first class. */
    for (int c = 0; c < 4; c++)
        cr_assert(llabs((long long)count[c] - 5000) < 430, "class %d: %llu", c, (unsigned long long)count[c]);
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader, waits_end)
{
    struct lade_source *source = numbers(100);
    struct lade_loader_config config = {.source = source, .batch = 10, .threads = 2, .slots = 2, .in_order = true};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch a = next_of(l), b = next_of(l), c;
    struct lade_error error;

    cr_assert_eq(lade_loader_next(l, &c, LADE_FOREVER, &error), LADE_TOO_MANY);
    lade_loader_release(l, &b);
    c = next_of(l);
    cr_assert_eq(c.number, 2);
    lade_loader_cancel(l);
    cr_assert_eq(lade_loader_next(l, &c, LADE_FOREVER, &error), LADE_CANCELLED);
    cr_assert_eq(lade_loader_stop(l, LADE_FOREVER), LADE_OK);
    cr_assert_eq(lade_loader_stop(l, 0), LADE_OK);
    cr_assert_eq(lade_loader_next(l, &c, LADE_FOREVER, &error), LADE_CANCELLED);
    cr_assert_eq(a.memory ? a.number : 1, 0); /* a batch outlives stop */
    /* Two batches are not released. */
    lade_loader_destroy(l);
    (void)a;
    lade_source_close(source);
    lade_loader_destroy(NULL);
}

/* The ids of an epoch, and the seed that the loader reports. */
static uint64_t order_of(const struct lade_loader_config *config, const char *state, uint64_t *ids, char **end)
{
    struct lade_loader_stats stats;
    struct lade_loader *l;
    struct lade_error error = {.text = ""};
    uint64_t n = 0;
    int status = state ? lade_loader_resume(&l, config, state, &error) : lade_loader_create(&l, config, &error);

    cr_assert_eq(status, LADE_OK, "%s", error.text);
    for (struct lade_batch b; lade_loader_next(l, &b, LADE_FOREVER, &error) == LADE_OK;) {
        for (uint64_t i = 0; i < b.count; i++)
            ids[n++] = b.ids[i];
        lade_loader_release(l, &b);
    }
    cr_assert_eq(n, 100);
    lade_loader_stats(l, &stats);
    if (end)
        *end = state_of(l);
    lade_loader_destroy(l);
    return stats.seed;
}

Test(loader, a_random_seed_is_reported_and_resumed)
{
    struct lade_source *source = numbers(100);
    struct lade_loader_config config = {.source = source, .batch = 10, .threads = 1, .in_order = true, .epochs = 1};
    uint64_t zero[100], drawn[100], again[100];
    char *state;

    cr_assert_eq(order_of(&config, NULL, zero, NULL), 0);
    config.random_seed = true;
    uint64_t seed = order_of(&config, NULL, drawn, &state);
    cr_assert_neq(seed, order_of(&config, NULL, again, NULL), "two of 2^64 are equal");
    cr_assert(memcmp(drawn, again, sizeof drawn) != 0 && memcmp(drawn, zero, sizeof drawn) != 0);
    config.epochs = 2; /* the second one, from the state, which has its seed */
    cr_assert_eq(order_of(&config, state, again, NULL), seed);
    config.random_seed = false;
    config.seed = seed;
    cr_assert_eq(order_of(&config, state, zero, NULL), seed);
    cr_assert_arr_eq(zero, again, sizeof again);
    config.epochs = 1;
    cr_assert_eq(order_of(&config, NULL, again, NULL), seed);
    cr_assert_arr_eq(drawn, again, sizeof again);
    free(state);
    lade_source_close(source);
}

Test(loader, wrong_use)
{
    struct lade_source *source = numbers(100), *endless = open_source("synthetic:count=endless,shape=4");
    struct lade_loader *l;
    struct lade_error error;
    const double bad[100] = {-1};
    const struct lade_loader_config wrong[] = {
        {.batch = 1},
        {.source = source},
        {.source = source, .batch = LADE_BATCH_MAX + 1},
        {.source = source, .batch = 1, .threads = LADE_LOADER_THREADS_MAX + 1},
        {.source = source, .batch = 1, .slots = LADE_LOADER_SLOTS_MAX + 1},
        {.source = source, .batch = 1, .shard = 2, .shards = 2},
        {.source = source, .batch = 1, .shard = 1},
        {.source = source, .batch = 1, .shards = 2, .random_seed = true},
        {.source = source, .batch = 1, .shards = LADE_LOADER_SHARDS_MAX + 1},
        {.source = source, .batch = 1, .align = 24},
        {.source = source, .batch = 1, .part = 1},
        {.source = source, .batch = 10, .buffer = 19},
        {.source = source, .batch = 1, .draw = LADE_DRAW_WEIGHTED},
        {.source = source, .batch = 1, .draw = LADE_DRAW_WEIGHTED, .weight = bad},
        {.source = source, .batch = 1, .draw = LADE_DRAW_BALANCED, .sequential = true},
        {.source = endless, .batch = 1},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        error.text[0] = '\0';
        cr_assert_eq(lade_loader_create(&l, &wrong[i], &error), LADE_INVALID, "case %zu", i);
        cr_assert(error.text[0] != '\0' && error.status == LADE_INVALID, "case %zu", i);
        cr_assert_eq(lade_loader_create(&l, &wrong[i], NULL), LADE_INVALID);
    }
    const struct lade_loader_config large = {.source = source, .batch = 10, .buffer = (UINT64_C(1) << 30) + 1};
    cr_assert_eq(lade_loader_create(&l, &large, &error), LADE_INVALID);
    cr_assert(strstr(error.text, "at most 2^30 samples"), "%s", error.text);
    cr_assert_eq(lade_loader_create(NULL, &wrong[0], &error), LADE_INVALID);
    cr_assert_eq(lade_loader_create(&l, NULL, &error), LADE_INVALID);
    lade_source_close(source);
    lade_source_close(endless);
}

/* One sample blocks until all others were delivered: without in_order, batches do not wait for it. */
struct held_back {
    pthread_mutex_t mutex;
    pthread_cond_t come;
    bool go;
};

static int hold_back(void *context, uint64_t i)
{
    struct held_back *h = context;

    pthread_mutex_lock(&h->mutex);
    while (i == 7 && !h->go)
        pthread_cond_wait(&h->come, &h->mutex);
    pthread_mutex_unlock(&h->mutex);
    return LADE_OK;
}

Test(loader, a_slow_batch_holds_back_no_other)
{
    struct held_back h = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    struct lade_source *source = numbers_with(400, hold_back, &h);
    struct lade_loader_config config = {
        .source = source, .batch = 20, .threads = 2, .slots = 2, .epochs = 1, .sequential = true, .replaced_max = 1};
    struct lade_loader *l = open_loader(&config);
    struct tally t;

    tally_init(&t, 400);
    for (int i = 0; i < 20; i++) {
        struct lade_batch b;
        if (i == 19) {
            cr_assert_eq(lade_loader_next(l, &b, 0, NULL), LADE_TIMEOUT);
            pthread_mutex_lock(&h.mutex);
            h.go = true;
            pthread_cond_signal(&h.come);
            pthread_mutex_unlock(&h.mutex);
        }
        b = next_of(l);
        cr_assert(i == 19 ? b.ids[0] == 0 : b.ids[0] > 0);
        tally_add(&t, &b);
        lade_loader_release(l, &b);
    }
    tally_expect(&t, 1);
    tally_free(&t);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* SPDX-License-Identifier: MIT */
/* Packed batches: the rule of the rows, and that each step comes once. */
#define _GNU_SOURCE
#include "packs.h"

#include <lade/dlpack.h>
#include <math.h>

static struct sequences spreads = {.length = spread};

static struct lade_loader_config packed(struct lade_source *source)
{
    return (struct lade_loader_config){.source = source,
                                       .batch = 3,
                                       .threads = 2,
                                       .in_order = true,
                                       .epochs = 1,
                                       .seed = 5,
                                       .pack_row = 40,
                                       .pack_window = 32};
}

/* The ids of an epoch as a loader delivers them that does not pack. */
static void order_of(const struct lade_loader_config *config, uint64_t *ids)
{
    static const struct lade_loader_field field = {.name = "tokens"};
    struct lade_loader_config plain = *config;
    struct lade_batch b;
    uint64_t n = 0;

    plain.pack_row = plain.pack_window = plain.pack_samples = 0;
    plain.pack_longer = LADE_LONGER_FAULT;
    plain.field = &field;
    plain.fields = 1;
    struct lade_loader *l = open_loader(&plain);
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        memcpy(ids + n, b.ids, (size_t)b.count * sizeof *ids);
        n += b.count;
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
}

/* The rows of one window, as check_packed() sums them up: each by trying all rows, longest first. */
static uint64_t rows_by_trying(const uint64_t *ids, uint64_t count, uint64_t steps, uint64_t most, uint64_t *hash)
{
    uint64_t used[64] = {0}, held[64] = {0}, row_of[64], rows = 0;
    bool placed[64] = {false};

    for (uint64_t n = 0; n < count; n++) {
        uint64_t longest = count, row = 0;
        for (uint64_t i = 0; i < count; i++)
            if (!placed[i] && (longest == count || spread(ids[i]) > spread(ids[longest])))
                longest = i;
        while (held[row] == most || used[row] + spread(ids[longest]) > steps)
            row++;
        placed[longest] = true;
        used[row] += spread(ids[longest]);
        held[row]++;
        row_of[longest] = row;
        rows = row + 1 > rows ? row + 1 : rows;
    }
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t entry[64], entries = 0;
        hash[row] = 1;
        for (uint64_t i = 0; i < count; i++)
            if (row_of[i] == row) {
                for (uint64_t k = 0; k < spread(ids[i]); k++) {
                    const uint64_t what[2] = {ids[i], k};
                    hash[row] = hash_of(hash[row], what, sizeof what);
                }
                entry[entries++] = ids[i];
            }
        hash[row] = hash_of(hash[row], entry, (size_t)entries * sizeof *entry);
    }
    return rows;
}

static int compare_words(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Window by window the rows that the rule names: permuted, or, in sequential order, in the order in which they are opened. */
Test(loader_pack, rows_by_the_rule)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);

    for (int run = 0; run < 12; run++) {
        struct lade_loader_config config = packed(source);
        uint64_t ids[PACK_COUNT], hash[64], at = 0, moved = 0;
        config.seed = (uint64_t)run;
        config.sequential = run % 3 == 2;
        config.pack_window = run % 2 ? 64 : 17;
        config.pack_samples = run % 4 == 3 ? 2 : 0;
        order_of(&config, ids);
        struct rows *r = all_rows(&config);
        for (uint64_t first = 0; first < PACK_COUNT; first += config.pack_window) {
            const uint64_t left = PACK_COUNT - first;
            const uint64_t rows = rows_by_trying(ids + first, left < config.pack_window ? left : config.pack_window, 40,
                                                 config.pack_samples ? config.pack_samples : UINT64_MAX, hash);
            cr_assert_leq(at + rows, r->count);
            for (uint64_t i = 0; i < rows; i++)
                moved += r->hash[at + i] != hash[i];
            if (!config.sequential) {
                qsort(hash, rows, sizeof *hash, compare_words);
                qsort(r->hash + at, rows, sizeof *hash, compare_words);
            }
            cr_assert_arr_eq(r->hash + at, hash, rows * sizeof *hash, "run %d, window at %llu", run,
                             (unsigned long long)first);
            at += rows;
        }
        cr_assert_eq(at, r->count);
        cr_assert_eq(moved > 0, !config.sequential);
        rows_free(r);
    }
    lade_source_close(source);
}

static uint64_t ten(uint64_t i)
{
    (void)i;
    return 10;
}

/* No two samples fit a row of 17 steps, so the rows of a window are opened from the longest sample to the shortest. */
static uint64_t falling(uint64_t i)
{
    return 17 - i;
}

/* The order of four rows as a number below 24: for each row, how many of the later ones have a longer sample. */
static unsigned order_of_rows(const uint64_t *ids)
{
    unsigned number = 0;

    for (unsigned i = 0; i < 3; i++) {
        unsigned longer = 0;
        for (unsigned k = i + 1; k < 4; k++)
            longer += falling(ids[k]) > falling(ids[i]);
        number = number * (4 - i) + longer;
    }
    return number;
}

/*
 * Each of the 24 orders of a window's rows comes equally often, in both windows of an epoch, and as often in both at once as
 * they do independently: chi-square of 23 degrees of freedom, and of 1. Each limit is exceeded with a probability below 1e-9.
 */
Test(loader_pack, rows_are_permuted)
{
    enum { EPOCHS = 4800 };
    struct sequences s = {.length = falling};
    struct lade_source *source = open_sequences(&s, 8, 17);
    struct lade_loader_config config = packed(source);
    unsigned count[2][24] = {{0}}, same = 0, before = 0;
    struct lade_batch b;

    config.pack_row = 17;
    config.pack_window = 4;
    config.batch = 8;
    config.epochs = EPOCHS;
    struct lade_loader *l = open_loader(&config);
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        cr_assert(b.rows == 8 && b.count == 8);
        const unsigned first = order_of_rows(b.ids), second = order_of_rows(b.ids + 4);
        count[0][first]++;
        count[1][second]++;
        same += first == second || first == before;
        before = first;
        lade_loader_release(l, &b);
    }
    for (int w = 0; w < 2; w++) {
        double sum = 0;
        for (int i = 0; i < 24; i++)
            sum += (count[w][i] - EPOCHS / 24.0) * (count[w][i] - EPOCHS / 24.0) / (EPOCHS / 24.0);
        cr_assert_lt(sum, 96, "chi-square %g", sum);
    }
    const double p = 1 - 23.0 * 23 / (24 * 24), off = same - EPOCHS * p;
    cr_assert_lt(off * off / (EPOCHS * p * (1 - p)), 40, "%u of %d", same, EPOCHS);
    lade_loader_destroy(l);
    lade_source_close(source);
}

static uint64_t bytes_of(const struct lade_loader_config *config)
{
    struct lade_loader *l = open_loader(config);
    uint64_t hash = 1;
    struct lade_batch b;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        for (unsigned t = 0; t < b.tensors; t++)
            hash = hash_of(hash, b.tensor[t].host, lade_shape_bytes(b.tensor[t].shape));
        hash = hash_of(hash, b.ids, (size_t)b.count * sizeof *b.ids);
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    return hash;
}

Test(loader_pack, same_bytes_for_any_number_of_threads)
{
    static const unsigned threads[] = {2, 3, 8, 64};
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);

    config.epochs = 3;
    config.threads = 1;
    const uint64_t alone = bytes_of(&config);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        config.threads = threads[i];
        cr_assert_eq(bytes_of(&config), alone, "%u threads", threads[i]);
    }
    config.threads = 2;
    config.consumer_assists = true;
    cr_assert_eq(bytes_of(&config), alone);
    config.seed++;
    cr_assert_neq(bytes_of(&config), alone);
    lade_source_close(source);
}

/* Delivered as ready, in batches of other sizes, with wide indices: the same rows. */
Test(loader_pack, same_rows_in_any_batches)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    static const struct lade_loader_field wide = {.name = "tokens", .ragged = LADE_RAGGED_PACKED, .wide = true};
    struct lade_loader_config config = packed(source);
    struct rows *expected = all_rows(&config);

    each_step(expected, spread, LONGEST, 1);
    for (uint64_t batch = 1; batch < 200; batch = batch * 3 / 2 + 1) {
        config.batch = batch;
        config.field = batch % 2 ? &wide : NULL;
        config.fields = batch % 2;
        struct rows *r = all_rows(&config);
        same_rows(expected, r);
        cr_assert_eq(r->batches, (r->count - 1) / batch + 1);
        rows_free(r);
    }
    config.in_order = false;
    config.threads = 3;
    struct rows *r = all_rows(&config);
    qsort(r->hash, r->count, sizeof *r->hash, compare_words);
    qsort(expected->hash, expected->count, sizeof *expected->hash, compare_words);
    same_rows(expected, r);
    rows_free(r);
    rows_free(expected);
    lade_source_close(source);
}

static uint64_t zero_mod_5(uint64_t i)
{
    return i % 5 == 0 ? 0 : spread(i);
}

/* A sample of no steps has an entry in some row; pad completes the last batch with empty rows. */
Test(loader_pack, empty_samples_and_empty_rows)
{
    struct sequences s = {.length = zero_mod_5};
    struct lade_source *source = open_sequences(&s, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);

    config.batch = 5;
    struct rows *r = all_rows(&config);
    each_step(r, zero_mod_5, LONGEST, 1);
    for (uint64_t i = 0; i < PACK_COUNT; i++)
        cr_assert_eq(r->entries[i], 1);
    cr_assert(r->count % 5 != 0 && r->empty == 0);
    config.pad = true;
    struct rows *full = all_rows(&config);
    each_step(full, zero_mod_5, LONGEST, 1);
    cr_assert_eq(full->batches, r->batches);
    cr_assert_eq(full->count, 5 * full->batches);
    cr_assert_eq(full->empty, full->count - r->count);
    rows_free(full);
    rows_free(r);
    lade_source_close(source);
}

/* What happens to samples that are longer than a row, in numbers; in shards the counts add up. */
Test(loader_pack, longer_samples)
{
    static const enum lade_longer rules[] = {LADE_LONGER_CUT, LADE_LONGER_SPLIT, LADE_LONGER_DROP};
    enum { ROW = 13 };
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    uint64_t longer = 0;

    for (uint64_t i = 0; i < PACK_COUNT; i++)
        longer += spread(i) > ROW;
    for (unsigned shards = 1; shards <= 3; shards++)
        for (size_t k = 0; k < 3; k++) {
            struct lade_loader_stats sum = {0};
            uint64_t steps = 0;
            struct rows *r = rows_new();
            for (unsigned shard = 0; shard < shards; shard++) {
                struct lade_loader_config config = packed(source);
                struct lade_loader_stats stats;
                config.pack_row = ROW;
                config.pack_longer = rules[k];
                config.epochs = 2;
                config.shards = shards;
                config.shard = shard;
                struct lade_loader *l = open_loader(&config);
                cr_assert_eq(take_rows(l, r, ROW, UINT64_MAX), LADE_CLOSED);
                lade_loader_stats(l, &stats);
                sum.samples_cut += stats.samples_cut;
                sum.samples_split += stats.samples_split;
                sum.samples_dropped += stats.samples_dropped;
                sum.packed_steps += stats.packed_steps;
                sum.packed_slots += stats.packed_slots;
                sum.packed_rows += stats.packed_rows;
                lade_loader_destroy(l);
            }
            for (uint64_t i = 0; i < PACK_COUNT; i++) {
                const uint64_t parts = spread(i) > ROW && rules[k] == LADE_LONGER_SPLIT ? (spread(i) - 1) / ROW + 1 : 1;
                const bool is_there = spread(i) <= ROW || rules[k] != LADE_LONGER_DROP;
                cr_assert_eq(r->entries[i], is_there ? 2 * parts : 0);
                for (uint64_t p = 0; p < LONGEST; p++) {
                    const bool due = is_there && p < spread(i) && (p < ROW || rules[k] == LADE_LONGER_SPLIT);
                    cr_assert_eq(r->seen[i][p], due ? 2 : 0);
                    steps += due ? 2 : 0;
                }
            }
            cr_assert_eq(sum.samples_cut, rules[k] == LADE_LONGER_CUT ? 2 * longer : 0);
            cr_assert_eq(sum.samples_split, rules[k] == LADE_LONGER_SPLIT ? 2 * longer : 0);
            cr_assert_eq(sum.samples_dropped, rules[k] == LADE_LONGER_DROP ? 2 * longer : 0);
            cr_assert(sum.packed_steps == steps && r->steps == steps);
            cr_assert(sum.packed_rows == r->count && sum.packed_slots == r->count * ROW);
            rows_free(r);
        }
    lade_source_close(source);
}

/* Windows of which nothing is left, at the beginning, between others and at the end. */
static uint64_t long_but_for_some(uint64_t i)
{
    return i == 30 || i == 31 || i == 90 ? 5 : 20;
}

Test(loader_pack, windows_without_rows)
{
    struct sequences s = {.length = long_but_for_some};
    struct lade_source *source = open_sequences(&s, 100, LONGEST);

    for (unsigned shards = 1; shards <= 3; shards++) {
        uint64_t dropped = 0, rows = 0;
        for (unsigned shard = 0; shard < shards; shard++) {
            struct lade_loader_config config = packed(source);
            struct lade_loader_stats stats;
            config.pack_row = 10;
            config.pack_window = 8;
            config.pack_longer = LADE_LONGER_DROP;
            config.sequential = true;
            config.epochs = 3;
            config.shards = shards;
            config.shard = shard;
            struct lade_loader *l = open_loader(&config);
            struct rows *r = rows_new();
            cr_assert_eq(take_rows(l, r, 10, UINT64_MAX), LADE_CLOSED);
            lade_loader_stats(l, &stats);
            dropped += stats.samples_dropped;
            rows += r->count - r->empty;
            rows_free(r);
            lade_loader_destroy(l);
        }
        cr_assert_eq(dropped, 3 * 97, "%u shards", shards);
        cr_assert_eq(rows, 3 * 2);
    }
    lade_source_close(source);
}

Test(loader_pack, no_sample_fits)
{
    struct sequences tens = {.length = ten};
    struct lade_source *source = open_sequences(&tens, 10, 10);
    struct lade_loader_config config = packed(source);
    struct lade_error error;
    struct lade_loader *l;

    config.pack_row = 9;
    config.pack_longer = LADE_LONGER_DROP;
    cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_EMPTY);
    cr_assert(strstr(error.text, "fits a row"), "%s", error.text);
    lade_source_close(source);
}

/* Row x goes to shard x % shards; all shards have as many batches. */
Test(loader_pack, shards)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_loader_config config = packed(source);
    struct rows *whole = all_rows(&config);

    for (unsigned shards = 1; shards <= 8; shards++) {
        uint64_t rows = 0, batches = 0;
        for (unsigned shard = 0; shard < shards; shard++) {
            config.shard = shard;
            config.shards = shards;
            struct rows *r = all_rows(&config);
            batches = shard == 0 ? r->batches : batches;
            cr_assert_eq(r->batches, batches);
            cr_assert_eq(r->count, (whole->count - 1) / shards + 1);
            cr_assert_eq(r->empty, r->count * shards - shards + shard >= whole->count);
            for (uint64_t i = 0; i < r->count - r->empty; i++)
                cr_assert_eq(r->hash[i], whole->hash[i * shards + shard]);
            rows += r->count - r->empty;
            rows_free(r);
        }
        cr_assert_eq(rows, whole->count);
    }
    rows_free(whole);
    lade_source_close(source);
}

/* More shards than rows: some have empty rows only, as a batch that can be exported. */
Test(loader_pack, shards_without_rows)
{
    struct sequences tens = {.length = ten};
    struct lade_source *source = open_sequences(&tens, 8, 10);
    struct lade_loader_config config = packed(source);
    struct lade_batch b;

    config.shards = 4;
    config.shard = 3;
    struct lade_loader *l = open_loader(&config);
    b = next_of(l);
    cr_assert(b.rows == 1 && b.count == 0 && b.last);
    struct rows *r = rows_new();
    check_packed(r, &b, 40, 0, false);
    cr_assert(r->empty == 1 && r->steps == 0);
    struct DLManagedTensorVersioned *managed;
    cr_assert_eq(lade_loader_export(l, &b, SEGMENTS, LADE_DONE_NOW, NULL, &managed, NULL), LADE_OK);
    cr_assert(managed->dl_tensor.shape[0] == 1 && managed->dl_tensor.shape[1] == 40);
    managed->deleter(managed);
    lade_loader_release(l, &b);
    cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
    rows_free(r);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* A part of a split, and draws: the rows of what a loader delivers that does not pack. */
Test(loader_pack, parts_and_draws)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST);
    struct lade_split *split = fifths(4);
    double weight[PACK_COUNT];

    for (uint64_t i = 0; i < PACK_COUNT; i++)
        weight[i] = (double)(i % 3);
    for (int run = 0; run < 4; run++) {
        struct lade_loader_config config = packed(source);
        uint64_t ids[PACK_COUNT], members = PACK_COUNT;
        uint32_t expected[PACK_COUNT] = {0};
        config.split = run < 3 ? split : NULL;
        config.part = run == 1;
        config.draw = run >= 2 ? LADE_DRAW_WEIGHTED : LADE_DRAW_ONCE;
        config.weight = run >= 2 ? weight : NULL;
        struct lade_loader *l = open_loader(&config);
        struct lade_loader_stats stats;
        lade_loader_stats(l, &stats);
        members = stats.part;
        cr_assert(config.split ? members < PACK_COUNT : members == PACK_COUNT);
        lade_loader_destroy(l);
        order_of(&config, ids);
        for (uint64_t i = 0; i < members; i++)
            expected[ids[i]]++;
        struct rows *r = all_rows(&config);
        for (uint64_t i = 0; i < PACK_COUNT; i++)
            cr_assert_eq(r->entries[i], expected[i]);
        rows_free(r);
    }
    lade_split_destroy(split);
    lade_source_close(source);
}

static bool seventh(uint64_t i)
{
    return i % 7 == 0;
}

static uint64_t unknown_or_long(uint64_t i)
{
    return i == 8 ? UINT64_MAX : i == 100 ? 50 : spread(i) % 30;
}

/* Samples that cannot be read, have no length, or are too long: padding in their place, or the error of the first. */
Test(loader_pack, faults)
{
    struct sequences s = {.length = unknown_or_long, .fails = seventh};
    struct lade_source *source = open_sequences(&s, PACK_COUNT, 60);
    struct lade_loader_config config = packed(source);
    static const int32_t minus = -7;
    static const struct lade_loader_field field = {.name = "tokens", .ragged = LADE_RAGGED_PACKED, .padding = &minus};
    struct rows *r = rows_new();
    struct lade_error error;
    struct lade_batch b;
    uint64_t faults = 0, expected = 0;
    int status = LADE_OK;

    config.field = &field;
    config.fields = 1;
    config.fault = LADE_FAULT_SKIP;
    struct lade_loader *l = open_loader(&config);
    while (lade_loader_next(l, &b, LADE_FOREVER, &error) == LADE_OK) {
        check_packed(r, &b, 40, minus, true);
        faults += b.faults;
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    for (uint64_t i = 0; i < PACK_COUNT; i++) {
        const bool is_there = !seventh(i) && i != 8 && i != 100;
        expected += !is_there;
        cr_assert_eq(r->entries[i], is_there);
        for (uint64_t k = 0; k < LONGEST; k++)
            cr_assert_eq(r->seen[i][k], is_there && k < unknown_or_long(i));
    }
    cr_assert_eq(faults, expected);
    rows_free(r);
    config.fault = LADE_FAULT_FAIL;
    s.fails = NULL;
    static const struct {
        uint64_t (*length)(uint64_t i);
        int status;
        const char *text;
    } cases[] = {{unknown_or_long, LADE_IO, "no length"}, {long_but_for_some, LADE_LIMITED, "pack_longer"}};
    for (int k = 0; k < 2; k++) {
        s.length = cases[k].length;
        config.pack_row = k ? 19 : 60;
        l = open_loader(&config);
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
            lade_loader_release(l, &b);
        cr_assert_eq(status, cases[k].status, "%s", error.text);
        cr_assert(strstr(error.text, cases[k].text), "%s", error.text);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

/* Tokens and a mask of equal lengths, a label and an image: one entry of these for each sample, row by row. */
static struct lade_source *open_pairs(bool equal, unsigned more)
{
    static uint8_t mask[MANY_COUNT * TOKENS + 1];
    static int64_t mask_offsets[MANY_COUNT + 1];
    struct lade_source *source;

    fill_many();
    memcpy(mask_offsets, many.token_offsets, sizeof mask_offsets);
    if (!equal) /* sample 3 has one step less, the next one more */
        mask_offsets[4]--;
    for (uint64_t i = 0; i < MANY_COUNT * TOKENS; i++)
        mask[i] = (uint8_t)(many.token[i] % 251);
    const struct lade_source_column column[] = {
        {.field = {.name = "image", .dtype = LADE_U8, .dims = 2, .dim = {2, 3}}, .values = many.image},
        {.field = {.name = "tokens", .dtype = LADE_I32},
         .values = many.token,
         .offsets = many.token_offsets,
         .offset_dtype = LADE_I64,
         .steps = MANY_COUNT * TOKENS},
        {.field = {.name = "label", .dtype = LADE_I16}, .values = many.label},
        {.field = {.name = "mask", .dtype = LADE_U8},
         .values = mask,
         .offsets = mask_offsets,
         .offset_dtype = LADE_I64,
         .steps = MANY_COUNT * TOKENS},
        {.field = {.name = "more", .dtype = LADE_I16}, .values = many.label},
        {.field = {.name = "evenmore", .dtype = LADE_I16}, .values = many.label}};
    const struct lade_source_arrays arrays = {
        .count = MANY_COUNT, .column = column, .columns = 4 + more, .label = "label"};
    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    return source;
}

Test(loader_pack, several_fields)
{
    struct lade_source *source = open_pairs(true, 1);
    struct lade_loader_config config = {
        .source = source, .batch = 4, .threads = 2, .epochs = 1, .shards = 4, .pack_row = 24};
    struct lade_loader *l = open_loader(&config);
    unsigned count, seen[MANY_COUNT] = {0};
    const struct lade_tensor_info *info = lade_loader_tensors(l, &count);
    static const enum lade_tensor_kind kinds[] = {LADE_TENSOR_VALUES,    LADE_TENSOR_VALUES, LADE_TENSOR_VALUES,
                                                  LADE_TENSOR_VALUES,    LADE_TENSOR_VALUES, LADE_TENSOR_SEGMENTS,
                                                  LADE_TENSOR_POSITIONS, LADE_TENSOR_ROWS};
    struct lade_batch b;

    cr_assert_eq(count, 8);
    for (unsigned t = 0; t < 8; t++)
        cr_assert_eq(info[t].kind, kinds[t]);
    cr_assert_str_eq(info[5].name, "tokens");
    for (int shard = 0; shard < 4;) { /* the last batch of a shard may end with an empty row */
        if (lade_loader_next(l, &b, LADE_FOREVER, NULL) != LADE_OK) {
            lade_loader_destroy(l);
            config.shard = (unsigned)++shard % 4;
            l = open_loader(&config);
            continue;
        }
        cr_assert(b.tensor[0].shape->dims == 3 && b.tensor[0].shape->dim[0] == b.count);
        cr_assert(b.tensor[3].shape->dims == 2 && b.tensor[3].shape->dim[0] == b.rows &&
                  b.tensor[3].shape->dim[1] == 24);
        for (uint64_t s = 0; s < b.count; s++) {
            seen[b.ids[s]]++;
            cr_assert_arr_eq((const uint8_t *)b.tensor[0].host + 6 * s, &many.image[b.ids[s]][0][0], 6);
            cr_assert(((const int16_t *)b.tensor[2].host)[s] == many.label[b.ids[s]] &&
                      b.labels[s] == many.label[b.ids[s]]);
        }
        for (uint64_t k = 0; k < b.rows * 24; k++) {
            const int64_t segment = int_at(&b.tensor[5], k);
            const int32_t value = ((const int32_t *)b.tensor[1].host)[k];
            if (segment > 0)
                cr_assert_eq(
                    value, token(b.ids[int_at(&b.tensor[7], k / 24) + segment - 1], (uint64_t)int_at(&b.tensor[6], k)));
            cr_assert_eq(((const uint8_t *)b.tensor[3].host)[k], (uint8_t)(value % 251), "0 in padding");
        }
        lade_loader_release(l, &b);
    }
    for (unsigned i = 0; i < MANY_COUNT; i++)
        cr_assert_eq(seen[i], 1);
    lade_loader_destroy(l);
    lade_source_close(source);

    source = open_pairs(false, 0);
    struct lade_loader_config unequal = config;
    struct lade_error error;
    int status;
    unequal.source = source;
    unequal.shards = 1;
    l = open_loader(&unequal);
    while ((status = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
        lade_loader_release(l, &b);
    cr_assert_eq(status, LADE_DAMAGED);
    cr_assert(strstr(error.text, "'tokens' and 'mask'"), "%s", error.text);
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader_pack, refused)
{
    struct lade_source *source = open_sequences(&spreads, PACK_COUNT, LONGEST), *plain = numbers(10);
    struct lade_source *pairs = open_pairs(true, 2);
    static const struct lade_loader_field padded = {.name = "tokens"},
                                          rows = {.name = "tokens", .ragged = LADE_RAGGED_PACKED};
    static const struct lade_loader_field cut = {.name = "tokens", .ragged = LADE_RAGGED_PACKED, .cut = true};
    static const struct lade_loader_field label = {.name = "label"};
    const struct {
        struct lade_loader_config config;
        const char *text;
    } cases[] = {
        {{.source = source, .pack_row = 40, .drop_last = true}, "drop_last"},
        {{.source = source, .pack_row = 40, .fault = LADE_FAULT_SUBSTITUTE}, "substitutes"},
        {{.source = source, .pack_row = 40, .buffer = 10}, "stream mode"},
        {{.source = source, .pack_row = UINT64_C(1) << 31}, "2^31"},
        {{.source = source, .pack_row = 40, .pack_window = (1 << 20) + 1}, "2^20"},
        {{.source = source, .pack_row = 40, .pack_samples = (1 << 20) + 1}, "pack_samples"},
        {{.source = source, .pack_row = 40, .pack_longer = (enum lade_longer)4}, "unknown"},
        {{.source = source, .pack_window = 40}, "needs pack_row"},
        {{.source = source, .pack_row = 40, .field = &padded, .fields = 1}, "'tokens'"},
        {{.source = source, .field = &rows, .fields = 1}, "'tokens'"},
        {{.source = source, .pack_row = 40, .field = &cut, .fields = 1}, "pack_longer"},
        {{.source = pairs, .pack_row = 40, .field = &label, .fields = 1}, "no delivered field is ragged"},
        {{.source = pairs, .pack_row = 40}, "8 tensors"},
        {{.source = plain, .pack_row = 40}, "ragged field"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lade_loader_config config = cases[i].config;
        struct lade_error error = {.text = "no text"};
        struct lade_loader *l;
        config.threads = 1;
        config.batch = config.batch ? config.batch : 2;
        cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_INVALID, "case %zu", i);
        cr_assert(strstr(error.text, cases[i].text), "%s", error.text);
    }
    lade_source_close(pairs);
    lade_source_close(plain);
    lade_source_close(source);
}

static uint64_t log_normal[4096];

static uint64_t log_normal_of(uint64_t i)
{
    return log_normal[i];
}

/* The promised fill rate through the loader. */
Test(loader_pack, fill_rate)
{
    const double sigma = 0.8, mu = log(400) - sigma * sigma / 2;
    const struct lade_key key = lade_key_make(11, 0, 0);
    struct sequences s = {.length = log_normal_of};

    for (uint64_t i = 0; i < 4096; i++) {
        const double u = ((double)(lade_random_at(key, i, 0) >> 11) + 0.5) * 0x1p-53;
        const double v = (double)(lade_random_at(key, i, 1) >> 11) * 0x1p-53;
        const double x = exp(mu + sigma * sqrt(-2 * log(u)) * cos(6.283185307179586 * v));
        log_normal[i] = x < 1 ? 1 : (uint64_t)x;
    }
    struct lade_source *source = open_sequences(&s, 4096, 1 << 20);
    const struct lade_loader_config config = {
        .source = source, .batch = 8, .threads = 2, .epochs = 1, .pack_row = 2048, .pack_longer = LADE_LONGER_CUT};
    struct lade_loader *l = open_loader(&config);
    struct lade_loader_stats stats;
    struct lade_batch b;
    uint64_t samples = 0;
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        samples += b.count;
        lade_loader_release(l, &b);
    }
    lade_loader_stats(l, &stats);
    cr_assert_eq(samples, 4096);
    cr_assert_geq((double)stats.packed_steps / (double)stats.packed_slots, 0.99);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* SPDX-License-Identifier: MIT */
/* Loaders of samples with several fields. */
#define _GNU_SOURCE
#include "fields.h"
#include "states.h"

#include <lade/dlpack.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* Tensor number of the values, lengths or offsets of a field. */
static unsigned tensor_of(const struct lade_loader *l, const char *name, enum lade_tensor_kind kind)
{
    unsigned count;
    const struct lade_tensor_info *info = lade_loader_tensors(l, &count);

    for (unsigned t = 0; t < count; t++)
        if (!strcmp(info[t].name, name) && info[t].kind == kind)
            return t;
    cr_assert(false, "no tensor %s", name);
    return 0;
}

static int64_t index_at(const struct lade_tensor *t, uint64_t i)
{
    return t->shape->dtype == LADE_I64 ? ((const int64_t *)t->host)[i] : ((const int32_t *)t->host)[i];
}

/* What a test expects of the field "tokens". */
struct expected {
    bool joined;
    uint64_t max; /* longer samples are cut */
    int32_t padding;
    uint64_t (*row)(uint64_t longest); /* steps of a row */
    uint64_t (*length)(uint64_t i);
};

static uint64_t same(uint64_t longest)
{
    return longest > 0 ? longest : 1;
}

/* Checks the tokens of a batch against the numbers of its samples. */
static void check_tokens(const struct lade_loader *l, const struct lade_batch *b, const struct expected *e)
{
    const struct lade_tensor *values = &b->tensor[tensor_of(l, "tokens", LADE_TENSOR_VALUES)];
    const struct lade_tensor *lengths =
        &b->tensor[tensor_of(l, "tokens", e->joined ? LADE_TENSOR_OFFSETS : LADE_TENSOR_LENGTHS)];
    const int32_t *token_at = values->host;
    uint64_t longest = 0, sum = 0;

    cr_assert((uintptr_t)values->host % LADE_DEVICE_ALIGN == 0 && (uintptr_t)lengths->host % LADE_DEVICE_ALIGN == 0);
    cr_assert(lengths->shape->dims == 1 && lengths->shape->dim[0] == b->count + e->joined);
    cr_assert_eq(values->shape->dims, e->joined ? 1 : 2);
    for (uint64_t row = 0; row < b->count; row++) {
        const uint64_t whole = e->length(b->ids[row]), length = e->max && whole > e->max ? e->max : whole;
        const uint64_t at = e->joined ? sum : row * values->shape->dim[1];
        cr_assert_eq(index_at(lengths, row), (int64_t)(e->joined ? sum : length));
        for (uint64_t k = 0; k < length; k++)
            cr_assert_eq(token_at[at + k], token(b->ids[row], k));
        for (uint64_t k = length; !e->joined && k < values->shape->dim[1]; k++)
            cr_assert_eq(token_at[at + k], e->padding);
        longest = length > longest ? length : longest;
        sum += length;
    }
    if (e->joined)
        cr_assert_eq(index_at(lengths, b->count), (int64_t)sum);
    cr_assert_eq(values->shape->dim[!e->joined], e->joined ? sum : e->row(longest));
}

/* Checks the fixed fields of open_many(), where they are delivered. */
static void check_fixed(const struct lade_loader *l, const struct lade_batch *b)
{
    const struct lade_tensor *image = &b->tensor[tensor_of(l, "image", LADE_TENSOR_VALUES)];
    const struct lade_tensor *target = &b->tensor[tensor_of(l, "target", LADE_TENSOR_VALUES)];
    const struct lade_tensor *label = &b->tensor[tensor_of(l, "label", LADE_TENSOR_VALUES)];

    cr_assert(image->shape->dims == 3 && image->shape->dim[0] == b->count && image->shape->dim[2] == 3);
    cr_assert(target->shape->dims == 2 && target->shape->dim[1] == 3 && label->shape->dims == 1);
    for (uint64_t row = 0; row < b->count; row++) {
        const uint64_t id = b->ids[row];
        cr_assert_arr_eq((const uint8_t *)image->host + 6 * row, &many.image[id][0][0], 6);
        cr_assert_arr_eq((const float *)target->host + 3 * row, many.target[id], sizeof many.target[id]);
        cr_assert_eq(((const int16_t *)label->host)[row], many.label[id]);
        cr_assert_eq(b->labels[row], many.label[id]);
    }
}

static void check_points(const struct lade_loader *l, const struct lade_batch *b)
{
    const struct lade_tensor *values = &b->tensor[tensor_of(l, "points", LADE_TENSOR_VALUES)];

    cr_assert(values->shape->dims == 3 && values->shape->dim[0] == b->count && values->shape->dim[2] == 2);
    for (uint64_t row = 0; row < b->count; row++)
        for (uint64_t k = 0; k < values->shape->dim[1]; k++) {
            const float *point = (const float *)values->host + 2 * (row * values->shape->dim[1] + k);
            const bool is_there = k < points_of(b->ids[row]);
            cr_assert(point[0] == (is_there ? (float)token(b->ids[row], k) : 0) && point[1] == (is_there ? -1 : 0));
        }
}

/* All bytes of the tensors of a batch, and its ids and labels. */
static uint64_t hash_batch(uint64_t hash, const struct lade_batch *b)
{
    for (unsigned t = 0; t < b->tensors; t++) {
        hash = hash_of(hash, b->tensor[t].shape->dim, b->tensor[t].shape->dims * sizeof(uint64_t));
        hash = hash_of(hash, b->tensor[t].host, lade_shape_bytes(b->tensor[t].shape));
    }
    hash = hash_of(hash, b->labels, (size_t)b->count * sizeof *b->labels);
    return hash_of(hash, b->ids, (size_t)b->count * sizeof *b->ids);
}

/* All fields, ragged ones padded to the longest sample: each sample once. */
Test(loader_fields, all_fields_by_default)
{
    struct lade_source *source = open_many();
    const struct lade_loader_config config = {.source = source, .batch = 8, .threads = 2, .epochs = 2, .seed = 3};
    struct lade_loader *l = open_loader(&config);
    const struct expected e = {.row = same, .length = tokens_of};
    unsigned count, seen[MANY_COUNT] = {0};
    struct lade_batch b;

    const struct lade_tensor_info *info = lade_loader_tensors(l, &count);
    cr_assert_eq(count, 7);
    for (unsigned t = 0; t < 5; t++)
        cr_assert(info[t].field == t && info[t].kind == LADE_TENSOR_VALUES);
    cr_assert(info[5].field == TOKEN && info[6].field == POINT && info[6].kind == LADE_TENSOR_LENGTHS);
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        cr_assert(b.tensors == 7 && b.sample_bytes == 6 && b.samples == b.tensor[0].host);
        check_fixed(l, &b);
        check_tokens(l, &b, &e);
        check_points(l, &b);
        for (uint64_t row = 0; row < b.count; row++)
            seen[b.ids[row]]++;
        lade_loader_release(l, &b);
    }
    for (unsigned i = 0; i < MANY_COUNT; i++)
        cr_assert_eq(seen[i], 2);
    lade_loader_destroy(l);
    lade_source_close(source);
}

static uint64_t by_four(uint64_t longest)
{
    return longest == 0 ? 4 : (longest + 3) / 4 * 4;
}

static uint64_t in_buckets(uint64_t longest)
{
    return longest <= 3 ? 3 : longest <= 7 ? 7 : 16;
}

static uint64_t always_16(uint64_t longest)
{
    (void)longest;
    return 16;
}

Test(loader_fields, forms_of_a_ragged_field)
{
    static const uint64_t bucket[] = {3, 7, 16};
    static const int32_t minus = -100;
    static const struct {
        struct lade_loader_field field;
        struct expected expected;
    } cases[] = {
        {{.name = "tokens"}, {.row = same}},
        {{.name = "tokens", .multiple = 4, .wide = true}, {.row = by_four}},
        {{.name = "tokens", .bucket = bucket, .buckets = 3, .padding = &minus}, {.row = in_buckets, .padding = -100}},
        {{.name = "tokens", .bucket = bucket + 2, .buckets = 1}, {.row = always_16}},
        {{.name = "tokens", .bucket = bucket, .buckets = 1, .cut = true}, {.row = in_buckets, .max = 3}},
        {{.name = "tokens", .max = 5, .cut = true, .padding = &minus}, {.row = same, .max = 5, .padding = -100}},
        {{.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED}, {.joined = true}},
        {{.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED, .wide = true, .max = 2, .cut = true},
         {.joined = true, .max = 2}},
    };
    struct lade_source *source = open_many();

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct lade_loader_field fields[] = {cases[c].field, {.name = "label"}};
        const struct lade_loader_config config = {
            .source = source, .batch = 3, .threads = 2, .epochs = 1, .seed = c, .field = fields, .fields = 2};
        struct expected e = cases[c].expected;
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        uint64_t samples = 0;
        e.length = tokens_of;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            cr_assert(b.tensors == 3 && b.sample_bytes == 0);
            cr_assert_eq(b.tensor[2].shape->dtype, cases[c].field.wide ? LADE_I64 : LADE_I32);
            check_tokens(l, &b, &e);
            for (uint64_t row = 0; row < b.count; row++)
                cr_assert_eq(b.labels[row], many.label[b.ids[row]]);
            samples += b.count;
            lade_loader_release(l, &b);
        }
        cr_assert_eq(samples, MANY_COUNT);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

/* Labels are read also where no tensor has them; a source without a schema can have its fields chosen. */
Test(loader_fields, chosen_fields)
{
    struct lade_source *source = open_many(), *plain = numbers(50);
    const struct lade_loader_field target = {.name = "target"};
    const struct lade_loader_field both[] = {{.name = "label"}, {.name = "sample"}};
    struct lade_loader_config config = {.source = source, .batch = 10, .threads = 1, .field = &target, .fields = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b = next_of(l);

    cr_assert(b.tensors == 1 && b.sample_bytes == 12);
    for (uint64_t row = 0; row < b.count; row++) {
        cr_assert_eq(((const float *)b.samples)[3 * row], many.target[b.ids[row]][0]);
        cr_assert_eq(b.labels[row], many.label[b.ids[row]]);
    }
    lade_loader_release(l, &b);
    lade_loader_destroy(l);
    config = (struct lade_loader_config){.source = plain, .batch = 10, .threads = 1, .field = both, .fields = 2};
    l = open_loader(&config);
    b = next_of(l);
    cr_assert(b.tensors == 2 && b.sample_bytes == 8);
    for (uint64_t row = 0; row < b.count; row++) {
        cr_assert(((const int64_t *)b.samples)[row] == (int64_t)(b.ids[row] % 10) &&
                  b.labels[row] == (int64_t)(b.ids[row] % 10));
        cr_assert_eq(((const uint64_t *)b.tensor[1].host)[2 * row], b.ids[row]);
    }
    lade_loader_release(l, &b);
    lade_loader_destroy(l);
    lade_source_close(plain);
    lade_source_close(source);
}

/* A loader of the tensors of a source without a schema is described in the same way. */
Test(loader_fields, without_a_schema)
{
    struct lade_source *source = numbers(5);
    const struct lade_loader_config config = {.source = source, .batch = 2, .threads = 1};
    struct lade_loader *l = open_loader(&config);
    unsigned count;
    const struct lade_tensor_info *info = lade_loader_tensors(l, &count);

    cr_assert_eq(count, 2);
    cr_assert_str_eq(info[LADE_SAMPLES].name, "sample");
    cr_assert_str_eq(info[LADE_LABELS].name, "label");
    lade_loader_destroy(l);
    lade_source_close(source);
}

static const struct lade_loader_field by_tokens[] = {
    {.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED, .total = 24}, {.name = "points", .multiple = 2}};

static uint64_t content(unsigned threads, const struct lade_loader_field *fields, unsigned count, bool assists)
{
    struct lade_source *source = open_many();
    const struct lade_loader_config config = {.source = source,
                                              .batch = 7,
                                              .threads = threads,
                                              .in_order = true,
                                              .consumer_assists = assists,
                                              .epochs = 3,
                                              .seed = 9,
                                              .field = fields,
                                              .fields = count};
    struct lade_loader *l = open_loader(&config);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct lade_batch b;

    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        hash = hash_batch(hash, &b);
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    lade_source_close(source);
    return hash;
}

Test(loader_fields, same_bytes_for_any_number_of_threads)
{
    static const unsigned threads[] = {2, 3, 8, 64};
    const uint64_t all = content(1, NULL, 0, false), limited = content(1, by_tokens, 2, false);

    cr_assert_neq(all, limited);
    cr_assert_eq(content(2, by_tokens, 2, true), limited);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        cr_assert_eq(content(threads[i], NULL, 0, false), all, "%u threads", threads[i]);
        cr_assert_eq(content(threads[i], by_tokens, 2, false), limited, "%u threads", threads[i]);
    }
}

/* Batches end before the sample that would exceed the total, and not sooner. */
Test(loader_fields, batches_by_their_steps)
{
    struct lade_source *source = open_many();

    for (int joined = 0; joined < 2; joined++) {
        const struct lade_loader_field field = {
            .name = "tokens", .ragged = joined ? LADE_RAGGED_CONCATENATED : LADE_RAGGED_PADDED, .total = 30};
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 12,
                                                  .threads = 2,
                                                  .in_order = true,
                                                  .epochs = 2,
                                                  .seed = 5,
                                                  .field = &field,
                                                  .fields = 1};
        const struct expected e = {.joined = joined, .row = same, .length = tokens_of};
        struct lade_loader *l = open_loader(&config);
        struct lade_loader_stats stats;
        struct lade_batch b;
        unsigned seen[MANY_COUNT] = {0}, shorter = 0;
        uint64_t steps = 0, rows = 0, longest = 0;
        bool last = true;
        lade_loader_stats(l, &stats);
        cr_assert_eq(stats.batches, 0);
        cr_assert_lt(stats.slot_bytes, 1024, "memory is that of 30 steps, not of 12 samples");
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            check_tokens(l, &b, &e);
            const uint64_t first = tokens_of(b.ids[0]), most = first > longest ? first : longest;
            if (!last) /* the first sample of this batch did not fit into the one before */
                cr_assert(rows == 12 || (joined ? steps + first : (rows + 1) * same(most)) > 30);
            for (uint64_t row = 0; row < b.count; row++)
                seen[b.ids[row]]++;
            steps = lade_shape_bytes(b.tensor[0].shape) / 4;
            cr_assert_leq(steps, 30);
            longest = joined ? 0 : b.tensor[0].shape->dim[1];
            rows = b.count;
            last = b.last;
            shorter += rows < 12;
            lade_loader_release(l, &b);
        }
        for (unsigned i = 0; i < MANY_COUNT; i++)
            cr_assert_eq(seen[i], 2);
        cr_assert_gt(shorter, 10);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

/* A run that is stopped after any batch continues with the bytes that a run without a stop has. */
Test(loader_fields, resumes_exactly)
{
    struct lade_source *source = open_many();
    struct lade_loader_config config = {.source = source,
                                        .batch = 7,
                                        .threads = 2,
                                        .in_order = true,
                                        .epochs = 2,
                                        .seed = 4,
                                        .field = by_tokens,
                                        .fields = 2};
    uint64_t whole[200], batches = 0;
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b;

    for (; lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK; batches++) {
        cr_assert_lt(batches, 200);
        whole[batches] = hash_batch(1, &b);
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    cr_assert_gt(batches, 2 * MANY_COUNT / 7);
    for (uint64_t stop = 0; stop < batches; stop++) {
        l = open_loader(&config);
        for (uint64_t i = 0; i < stop; i++) {
            b = next_of(l);
            lade_loader_release(l, &b);
        }
        char *state = state_of(l);
        lade_loader_destroy(l);
        config.threads = 1 + (unsigned)stop % 3;
        l = resume(&config, state);
        for (uint64_t i = stop; i < batches; i++) {
            b = next_of(l);
            cr_assert_eq(hash_batch(1, &b), whole[i], "batch %d after a stop at %d", (int)i, (int)stop);
            lade_loader_release(l, &b);
        }
        cr_assert_eq(lade_loader_next(l, &b, LADE_FOREVER, NULL), LADE_CLOSED);
        lade_loader_destroy(l);
        free(state);
    }
    lade_source_close(source);
}

/* Whether a state of the first source is refused with the second. */
static bool is_other(const struct lade_source_column *first, const struct lade_source_column *second)
{
    const struct lade_source_arrays one = {.count = MANY_COUNT, .column = first, .columns = 1};
    const struct lade_source_arrays two = {.count = MANY_COUNT, .column = second, .columns = 1};
    struct lade_loader_config config = {.batch = 5, .threads = 1};
    struct lade_loader *l;

    cr_assert_eq(lade_source_open_arrays(&config.source, &one, NULL), LADE_OK);
    l = open_loader(&config);
    char *state = state_of(l);
    lade_loader_destroy(l);
    lade_source_close(config.source);
    cr_assert_eq(lade_source_open_arrays(&config.source, &two, NULL), LADE_OK);
    const int status = lade_loader_resume(&l, &config, state, NULL);
    cr_assert(status == LADE_OK || status == LADE_CONFLICT);
    if (status == LADE_OK)
        lade_loader_destroy(l);
    lade_source_close(config.source);
    free(state);
    return status == LADE_CONFLICT;
}

/* A source with the same number of samples, but another name, type, shape or length, is another source. */
Test(loader_fields, states_of_other_schemas_are_refused)
{
    static const int32_t value[2 * MANY_COUNT];
    static int64_t offsets[2][MANY_COUNT + 1];
    const struct lade_source_column first = {.field = {.name = "a", .dtype = LADE_I32}, .values = value};
    struct lade_source_column ragged[2], other = first;

    cr_assert(!is_other(&first, &other));
    other.field.name = "b";
    cr_assert(is_other(&first, &other));
    other.field = (struct lade_field){.name = "a", .dtype = LADE_U32};
    cr_assert(is_other(&first, &other));
    other.field = (struct lade_field){.name = "a", .dtype = LADE_I32, .dims = 1, .dim = {2}};
    cr_assert(is_other(&first, &other));
    for (int i = 0; i < 2; i++) {
        for (int64_t k = 0; k <= MANY_COUNT; k++)
            offsets[i][k] = k;
        offsets[i][1] = i ? 0 : 2; /* the first sample has two steps, or the second */
        ragged[i] = (struct lade_source_column){.field = {.name = "a", .dtype = LADE_I32},
                                                .values = value,
                                                .offsets = offsets[i],
                                                .offset_dtype = LADE_I64,
                                                .steps = MANY_COUNT};
    }
    cr_assert(is_other(&first, &ragged[0]));
    cr_assert(is_other(&ragged[0], &ragged[1]));
    cr_assert(!is_other(&ragged[1], &ragged[1]));
}

/* A split routes by the group: all samples of one group are in one part. */
Test(loader_fields, split_by_group)
{
    static uint16_t group[MANY_COUNT];
    const struct lade_source_column column = {.field = {.name = "g", .dtype = LADE_U16}, .values = group};
    const struct lade_source_arrays arrays = {.count = MANY_COUNT, .column = &column, .columns = 1, .group = "g"};
    struct lade_split *split = fifths(1);
    struct lade_loader_config config = {.batch = 4, .threads = 2, .epochs = 1, .split = split};
    int part_of[20], seen = 0;

    for (int i = 0; i < MANY_COUNT; i++)
        group[i] = (uint16_t)(i % 20);
    for (int g = 0; g < 20; g++)
        part_of[g] = -1;
    cr_assert_eq(lade_source_open_arrays(&config.source, &arrays, NULL), LADE_OK);
    for (config.part = 0; config.part < 2; config.part++) {
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            for (uint64_t row = 0; row < b.count; row++, seen++) {
                int *part = &part_of[b.ids[row] % 20];
                cr_assert(*part == -1 || *part == (int)config.part);
                *part = (int)config.part;
            }
            lade_loader_release(l, &b);
        }
        lade_loader_destroy(l);
    }
    cr_assert_eq(seen, MANY_COUNT);
    lade_source_close(config.source);
    lade_split_destroy(split);
}

/* Shards deliver each sample once, also after their number has changed. */
Test(loader_fields, shards)
{
    struct lade_source *source = open_many();
    struct lade_loader_config config = {
        .source = source, .batch = 7, .threads = 2, .epochs = 1, .shards = 3, .field = by_tokens, .fields = 2};
    const struct expected e = {.joined = true, .length = tokens_of};
    unsigned seen[MANY_COUNT] = {0}, total = 0;
    char *state[3], joined[1000];

    for (config.shard = 0; config.shard < 3; config.shard++) {
        struct lade_loader *l = open_loader(&config);
        for (unsigned i = 0; i < 2 + config.shard; i++) {
            struct lade_batch b = next_of(l);
            check_tokens(l, &b, &e);
            for (uint64_t row = 0; row < b.count; row++)
                seen[b.ids[row]]++;
            lade_loader_release(l, &b);
        }
        state[config.shard] = state_of(l);
        lade_loader_destroy(l);
    }
    cr_assert_gt(lade_loader_merge_states((const char *const *)state, 3, joined, sizeof joined, NULL, NULL), 0);
    config.shards = 2;
    for (config.shard = 0; config.shard < 2; config.shard++) {
        struct lade_loader *l = resume(&config, joined);
        struct lade_batch b;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            check_tokens(l, &b, &e);
            for (uint64_t row = 0; row < b.count; row++)
                seen[b.ids[row]]++;
            lade_loader_release(l, &b);
        }
        lade_loader_destroy(l);
    }
    for (unsigned i = 0; i < MANY_COUNT; i++) {
        cr_assert_leq(seen[i], 1);
        total += seen[i];
    }
    cr_assert_geq(total, MANY_COUNT - 1, "shards are equally long");
    for (int i = 0; i < 3; i++)
        free(state[i]);
    lade_source_close(source);
}

static bool every_seventh(uint64_t i)
{
    return i % 7 == 3;
}

static uint64_t some_without(uint64_t i)
{
    return i % 5 == 2 ? UINT64_MAX : i == 20 ? 9 : i % 6;
}

static bool is_fault(uint64_t i, uint64_t max)
{
    return every_seventh(i) || some_without(i) == UINT64_MAX || some_without(i) > max;
}

/* Samples whose length or data cannot be read, or that are too long. */
Test(loader_fields, faults)
{
    struct sequences s = {some_without, every_seventh};
    struct lade_source *source = open_sequences(&s, 90, 9);

    for (int c = 0; c < 8; c++) {
        const struct lade_loader_field field = {
            .name = "tokens", .ragged = c % 2 ? LADE_RAGGED_CONCATENATED : LADE_RAGGED_PADDED, .max = 6};
        struct lade_loader_config config = {.source = source,
                                            .batch = 8,
                                            .threads = 2,
                                            .in_order = true,
                                            .epochs = 1,
                                            .seed = (uint64_t)c,
                                            .fault = c & 2 ? LADE_FAULT_SUBSTITUTE : LADE_FAULT_SKIP,
                                            .field = &field,
                                            .fields = 1};
        uint64_t hash[2] = {1, 1};
        unsigned faulty = 0;
        for (uint64_t i = 0; i < 90; i++)
            faulty += is_fault(i, 6);
        for (int run = 0; run < 2; run++) {
            config.threads = run ? 5 : 1;
            struct lade_loader *l = open_loader(&config);
            uint64_t samples = 0, faults = 0;
            struct lade_batch b;
            while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
                const struct lade_tensor *lengths = &b.tensor[1];
                const int32_t *values = b.tensor[0].host;
                for (uint64_t row = 0; row < b.count; row++) {
                    const uint64_t id = b.ids[row], length = some_without(id);
                    const uint64_t at = c % 2 ? (uint64_t)index_at(lengths, row) : row * b.tensor[0].shape->dim[1];
                    cr_assert(!is_fault(id, 6), "sample %d", (int)id);
                    const int64_t is = index_at(lengths, row + (c % 2 ? 1 : 0)) - (c % 2 ? index_at(lengths, row) : 0);
                    cr_assert_eq(is, (int64_t)length);
                    for (uint64_t k = 0; k < length; k++)
                        cr_assert_eq(values[at + k], token(id, k));
                }
                hash[run] = hash_batch(hash[run], &b);
                samples += b.count;
                faults += b.faults;
                lade_loader_release(l, &b);
            }
            cr_assert_eq(faults, faulty);
            cr_assert_eq(samples, config.fault == LADE_FAULT_SKIP ? 90 - faulty : 90);
            lade_loader_destroy(l);
        }
        cr_assert_eq(hash[0], hash[1]);
    }
    lade_source_close(source);
}

/* Expects that the loader ends with this error. */
static void ends_with(const struct lade_loader_config *config, int status, const char *words)
{
    struct lade_loader *l = open_loader(config);
    struct lade_error error = {.text = "no text"};
    struct lade_batch b;
    int got;

    while ((got = lade_loader_next(l, &b, LADE_FOREVER, &error)) == LADE_OK)
        lade_loader_release(l, &b);
    cr_assert_eq(got, status, "%d: %s", got, error.text);
    cr_assert(strstr(error.text, words) != NULL, "'%s' has no '%s'", error.text, words);
    lade_loader_destroy(l);
}

static bool never(uint64_t i)
{
    (void)i;
    return false;
}

static bool always(uint64_t i)
{
    (void)i;
    return true;
}

static uint64_t above_the_schema(uint64_t i)
{
    return i == 11 ? UINT64_C(1) << 60 : 3;
}

/* Different at each call. */
static uint64_t restless(uint64_t i)
{
    static atomic_uint calls;

    (void)i;
    return atomic_fetch_add(&calls, 1) % 10;
}

Test(loader_fields, errors_of_samples)
{
    struct sequences s = {some_without, never};
    struct lade_source *source = open_sequences(&s, 30, 9);
    const struct lade_loader_field field = {.name = "tokens", .max = 6};
    struct lade_loader_config config = {.source = source,
                                        .batch = 4,
                                        .threads = 2,
                                        .sequential = true,
                                        .in_order = true,
                                        .epochs = 1,
                                        .field = &field,
                                        .fields = 1};

    ends_with(&config, LADE_IO, "no length");
    s.length = tokens_of;
    ends_with(&config, LADE_LIMITED, "batches take 6: cut it, or raise max");
    s.length = above_the_schema;
    ends_with(&config, LADE_DAMAGED, "the schema allows 9");
    s.length = points_of;
    s.fails = every_seventh;
    ends_with(&config, LADE_DAMAGED, "as the test wants");
    s.fails = always;
    config.fault = LADE_FAULT_SUBSTITUTE;
    ends_with(&config, LADE_DAMAGED, "as the test wants");
    config.fault = LADE_FAULT_SKIP;
    ends_with(&config, LADE_CLOSED, "");
    config.faults_max = 10;
    ends_with(&config, LADE_LIMITED, "");
    lade_source_close(source);
}

/* Lengths that change between calls never lead outside the memory of a batch. */
Test(loader_fields, lengths_that_change)
{
    struct sequences s = {restless, never};
    struct lade_source *source = open_sequences(&s, 1000, 9);

    for (int c = 0; c < 4; c++) {
        const struct lade_loader_field field = {
            .name = "tokens", .ragged = c % 2 ? LADE_RAGGED_CONCATENATED : LADE_RAGGED_PADDED, .total = c < 2 ? 0 : 20};
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 16,
                                                  .threads = 2,
                                                  .in_order = true,
                                                  .epochs = 3,
                                                  .field = &field,
                                                  .fields = 1,
                                                  .fault = c < 2 ? LADE_FAULT_FAIL : LADE_FAULT_SKIP};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        int status;
        while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK) {
            const uint64_t steps = lade_shape_bytes(b.tensor[0].shape) / 4;
            cr_assert(b.count == 0 || steps <= (c < 2 ? 16 * 9 : 20));
            lade_loader_release(l, &b);
        }
        cr_assert_eq(status, LADE_CLOSED, "case %d: %d", c, status);
        lade_loader_destroy(l);
    }
    const struct lade_loader_field field = {.name = "tokens", .total = 20};
    const struct lade_loader_config config = {
        .source = source, .batch = 16, .threads = 2, .in_order = true, .epochs = 3, .field = &field, .fields = 1};
    ends_with(&config, LADE_LIMITED, "other lengths than when the batch was planned");
    lade_source_close(source);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool is_first;

/* The first call does not return while the gate is locked. */
static uint64_t behind_a_gate(uint64_t i)
{
    if (atomic_exchange(&is_first, false)) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return tokens_of(i);
}

/* A worker that hangs while it plans a batch by its steps is replaced, and each sample comes once. */
Test(loader_fields, a_length_that_does_not_return)
{
    struct sequences s = {tokens_of, never};
    struct lade_source *source = open_sequences(&s, 60, TOKENS - 1);
    const struct lade_loader_field field = {.name = "tokens", .total = 20};
    const struct lade_loader_config config = {.source = source,
                                              .batch = 8,
                                              .threads = 1,
                                              .in_order = true,
                                              .epochs = 2,
                                              .worker_timeout = 20000000,
                                              .replaced_max = 1024,
                                              .field = &field,
                                              .fields = 1};
    const struct expected e = {.row = same, .length = tokens_of};
    struct lade_loader_stats stats;
    unsigned seen[60] = {0};
    struct lade_batch b;
    int status;

    pthread_mutex_lock(&gate);
    atomic_store(&is_first, true);
    s.length = behind_a_gate;
    struct lade_loader *l = open_loader(&config);
    while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK) {
        check_tokens(l, &b, &e);
        for (uint64_t row = 0; row < b.count; row++)
            seen[b.ids[row]]++;
        lade_loader_release(l, &b);
    }
    cr_assert_eq(status, LADE_CLOSED);
    lade_loader_stats(l, &stats);
    cr_assert_geq(stats.replaced, 1);
    for (unsigned i = 0; i < 60; i++)
        cr_assert_eq(seen[i], 2);
    pthread_mutex_unlock(&gate);
    lade_loader_destroy(l);
    lade_source_close(source);
}

/* Sample 0: the first call for its length fails, the second one does not return while the gate is locked. */
static atomic_uint calls_for_first;
static atomic_bool is_ahead; /* a worker has asked for a sample of a later batch */

static uint64_t fails_then_hangs(uint64_t i)
{
    if (i >= 8)
        atomic_store(&is_ahead, true);
    if (i > 0)
        return 2;
    const unsigned call = atomic_fetch_add(&calls_for_first, 1);
    if (call == 1) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
    }
    return call == 0 ? UINT64_MAX : 4;
}

/* Delivers until the end; counts the samples. */
static int deliver_all(struct lade_loader *l, unsigned *seen)
{
    struct lade_batch b;
    int status;

    while ((status = lade_loader_next(l, &b, LADE_FOREVER, NULL)) == LADE_OK) {
        for (uint64_t row = 0; row < b.count; row++)
            seen[b.ids[row]]++;
        lade_loader_release(l, &b);
    }
    return status;
}

/*
 * The first batch is planned with a length that cannot be read, and made by another worker, which can read it. While the
 * plan has the end of that batch, each sample comes once; later the disagreement is an error. Never is a sample lost.
 */
Test(loader_fields, a_length_that_fails_once)
{
    enum { COUNT = 24 };
    struct sequences s = {fails_then_hangs, never};
    struct lade_source *source = open_sequences(&s, COUNT, 8);
    const struct lade_loader_field field = {.name = "tokens", .total = 8};

    for (int c = 0; c < 8; c++) {
        const bool one = c < 4; /* batch was planned when the worker is replaced; else several */
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 8,
                                                  .threads = one ? 1 : 2,
                                                  .slots = 8,
                                                  .sequential = true,
                                                  .in_order = c % 2,
                                                  .epochs = 1,
                                                  .fault = c & 2 ? LADE_FAULT_SKIP : LADE_FAULT_FAIL,
                                                  .faults_max = c & 2 ? 100 : 0,
                                                  .worker_timeout = 20000000,
                                                  .replaced_max = 1024,
                                                  .field = &field,
                                                  .fields = 1};
        unsigned seen[COUNT] = {0};
        pthread_mutex_lock(&gate);
        atomic_store(&calls_for_first, 0);
        atomic_store(&is_ahead, false);
        struct lade_loader *l = open_loader(&config);
        while (!one && !atomic_load(&is_ahead))
            sched_yield();
        const int status = deliver_all(l, seen);
        struct lade_loader_stats stats;
        lade_loader_stats(l, &stats);
        /* On a machine so slow that other workers are late as well, both ends are right. */
        cr_assert(status == LADE_CLOSED || status == LADE_LIMITED, "case %d: %d", c, status);
        cr_assert(stats.replaced != 1 || status == (one ? LADE_CLOSED : LADE_LIMITED), "case %d: %d", c, status);
        for (unsigned i = 0; i < COUNT; i++)
            cr_assert(status == LADE_CLOSED ? seen[i] == 1 : seen[i] <= 1, "case %d: sample %u came %u times", c, i,
                      seen[i]);
        pthread_mutex_unlock(&gate);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

enum { GROUPED = 200 };

/* A source with the fields "v" and "g"; "g" is the group. */
static struct {
    atomic_uint reads[GROUPED]; /* of the group alone */
    unsigned good;              /* reads of the group of a sample that succeed */
    pthread_t consumer;
    atomic_uint on_consumer; /* calls */
} grouped;

static int read_grouped(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const uint32_t value = (uint32_t)i, group = (uint32_t)i / 2;

    (void)self;
    if (pthread_equal(pthread_self(), grouped.consumer))
        atomic_fetch_add(&grouped.on_consumer, 1);
    if (views[1].data && !views[0].data && atomic_fetch_add(&grouped.reads[i], 1) >= grouped.good) {
        error->status = LADE_DAMAGED;
        strcpy(error->text, "no group");
        return LADE_DAMAGED;
    }
    if (views[0].data)
        memcpy(views[0].data, &value, sizeof value);
    if (views[1].data)
        memcpy(views[1].data, &group, sizeof group);
    return LADE_OK;
}

static struct lade_source *open_grouped(void)
{
    const struct lade_field field[] = {{.name = "v", .dtype = LADE_U32}, {.name = "g", .dtype = LADE_U32}};
    const struct lade_schema schema = {2, field, LADE_NO_FIELD, LADE_NO_FIELD, 1};
    const struct lade_source_ops ops = {.read_fields = read_grouped};
    const struct lade_source_info info = {.kind = "grouped", .count = GROUPED, .schema = &schema};
    struct lade_source *source;

    cr_assert_eq(lade_source_open_custom(&source, &ops, NULL, &info, NULL, NULL), LADE_OK);
    grouped.good = UINT32_MAX;
    grouped.consumer = pthread_self();
    return source;
}

static void forget_reads(void)
{
    for (int i = 0; i < GROUPED; i++)
        atomic_store(&grouped.reads[i], 0);
}

/* A group that cannot be read never changes the part of a sample: creation fails, and later it is not read. */
Test(loader_fields, groups_that_cannot_be_read)
{
    struct lade_source *source = open_grouped();
    struct lade_split *split = fifths(1);
    struct lade_loader_config config = {.source = source, .batch = 4, .threads = 2, .epochs = 1, .split = split};
    struct lade_error error = {.text = "no text"};
    unsigned seen[GROUPED] = {0};
    struct lade_loader *l;

    for (int c = 0; c < 2; c++) {
        config.fault = c ? LADE_FAULT_SUBSTITUTE : LADE_FAULT_FAIL;
        grouped.good = 1;
        memset(seen, 0, sizeof seen);
        for (config.part = 0; config.part < 2; config.part++) {
            forget_reads();
            l = open_loader(&config);
            cr_assert_eq(deliver_all(l, seen), LADE_CLOSED);
            lade_loader_destroy(l);
        }
        for (int i = 0; i < GROUPED; i++)
            cr_assert_eq(seen[i], 1, "sample %d came %u times", i, seen[i]);
        config.part = 0;
        grouped.good = 0;
        cr_assert_eq(lade_loader_create(&l, &config, &error), LADE_DAMAGED);
        cr_assert_str_eq(error.text, "no group");
        cr_assert_eq(lade_source_group(source, 150), 150); /* error is not NULL here */
        cr_assert_eq(lade_loader_create(&l, &config, NULL), LADE_DAMAGED);
    }
    lade_source_close(source);
    lade_split_destroy(split);
}

/* The consumer of a stream calls no function of the source, also where a field decides the part. */
Test(loader_fields, stream_of_a_part)
{
    struct lade_source *source = open_grouped();
    struct lade_split *split = fifths(1);
    struct lade_loader_config config = {
        .source = source, .batch = 4, .buffer = 16, .threads = 2, .epochs = 1, .split = split};
    unsigned seen[GROUPED] = {0};

    for (config.part = 0; config.part < 2; config.part++) {
        struct lade_loader *l = open_loader(&config);
        cr_assert_eq(deliver_all(l, seen), LADE_CLOSED);
        lade_loader_destroy(l);
    }
    for (int i = 0; i < GROUPED; i++)
        cr_assert_eq(seen[i], 1);
    cr_assert_eq(atomic_load(&grouped.on_consumer), 0);
    lade_source_close(source);
    lade_split_destroy(split);
}

static atomic_uint key_calls;

static uint64_t count_calls(void *self, uint64_t i)
{
    (void)self;
    atomic_fetch_add(&key_calls, 1);
    return i;
}

static uint64_t always_two(uint64_t i)
{
    (void)i;
    return 2;
}

/* A plan reads about as many samples as its batch takes, not config.batch of them. */
Test(loader_fields, plans_read_few_samples)
{
    enum { COUNT = 20000, BATCHES = 50 };
    struct sequences s = {always_two, never};
    const struct lade_field tokens = {.name = "tokens", .dtype = LADE_I32, .ragged_max = 2};
    const struct lade_schema schema = {1, &tokens, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};
    const struct lade_source_ops ops = {.length = length_of_sequence, .read_fields = read_sequence, .key = count_calls};
    const struct lade_source_info info = {.kind = "counted", .count = COUNT, .schema = &schema};
    const struct lade_loader_field field = {.name = "tokens", .total = 140};
    struct lade_split *split = fifths(1);
    struct lade_loader_config config = {
        .batch = COUNT / 2, .threads = 1, .slots = 2, .split = split, .field = &field, .fields = 1};

    cr_assert_eq(lade_source_open_custom(&config.source, &ops, &s, &info, NULL, NULL), LADE_OK);
    struct lade_loader *l = open_loader(&config);
    for (int i = 0; i < BATCHES; i++) {
        struct lade_batch b = next_of(l);
        cr_assert_eq(b.count, 70);
        lade_loader_release(l, &b);
    }
    cr_assert_eq(lade_loader_stop(l, LADE_FOREVER), LADE_OK);
    const unsigned calls = atomic_load(&key_calls);
    cr_assert_lt(calls, 5 * COUNT, "%u", calls);
    lade_loader_destroy(l);
    lade_source_close(config.source);
    lade_split_destroy(split);
}

static void refused(const struct lade_loader_config *config, const char *words)
{
    struct lade_loader *l;
    struct lade_error error = {.text = "no text"};

    cr_assert_eq(lade_loader_create(&l, config, &error), LADE_INVALID, "%s", words);
    cr_assert(strstr(error.text, words) != NULL, "'%s' has no '%s'", error.text, words);
}

Test(loader_fields, what_is_refused)
{
    static const uint64_t falls[] = {5, 5}, low[] = {2, 3};
    static const uint64_t rises[LADE_BUCKETS_MAX + 1];
    static const int32_t zero;
    static const struct {
        struct lade_loader_field field;
        const char *words;
    } cases[] = {
        {{.name = "colour"}, "no field 'colour'; its first is 'image'"},
        {{.name = NULL}, "no field ''"},
        {{.name = "image", .max = 3}, "it is not ragged"},
        {{.name = "image", .cut = true}, "it is not ragged"},
        {{.name = "tokens", .ragged = (enum lade_ragged)7}, "concatenated or packed"},
        {{.name = "tokens", .bucket = falls, .buckets = 2}, "do not rise"},
        {{.name = "tokens", .bucket = low, .buckets = 2, .max = 4}, "no row is long enough"},
        {{.name = "tokens", .bucket = low, .buckets = 2, .multiple = 4}, "or a multiple"},
        {{.name = "tokens", .buckets = 2}, "up to 64 lengths"},
        {{.name = "tokens", .bucket = rises, .buckets = LADE_BUCKETS_MAX + 1}, "up to 64 lengths"},
        {{.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED, .padding = &zero}, "no padding"},
        {{.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED, .multiple = 2}, "no padding"},
        {{.name = "tokens", .multiple = UINT64_MAX}, "above 2^62"},
        {{.name = "tokens", .multiple = SIZE_MAX / 8}, "does not fit into memory"},
        {{.name = "tokens", .total = 9}, "the total is below one sample"},
        {{.name = "tokens", .reserved = {0, 0, 0, 1}}, "a reserved word"},
    };
    struct lade_source *source = open_many();
    struct lade_loader_config config = {.source = source, .batch = 4, .fields = 1};
    const struct lade_image form = {LADE_U8, LADE_HWC, 2, 3, 1}, other = {LADE_U8, LADE_HWC, 2, 2, 1};
    struct lade_pipeline *pipeline;

    refused(&config, "there are no fields");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        config.field = &cases[c].field;
        refused(&config, cases[c].words);
    }
    const struct lade_loader_field twice[] = {{.name = "image"}, {.name = "image"}};
    config.field = twice;
    config.fields = 2;
    refused(&config, "named twice");
    config.fields = UINT32_MAX;
    refused(&config, "named twice");
    const struct lade_loader_field total = {.name = "tokens", .total = 20};
    config = (struct lade_loader_config){.source = source, .batch = 4, .field = &total, .fields = 1, .drop_last = true};
    refused(&config, "a total of steps");
    config.drop_last = false;
    config.fault = LADE_FAULT_SUBSTITUTE;
    refused(&config, "a total of steps");
    config.fault = LADE_FAULT_FAIL;
    config.buffer = 20;
    refused(&config, "a total of steps");
    config = (struct lade_loader_config){.source = source, .batch = 4, .buffer = 20, .fault = LADE_FAULT_SKIP};
    refused(&config, "stream mode with fields");
    config = (struct lade_loader_config){.source = source, .batch = 4, .pipeline_field = 1};
    refused(&config, "there is no pipeline");
    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    config.pipeline = pipeline;
    config.pipeline_field = TOKEN;
    refused(&config, "the field of the pipeline is ragged");
    config.pipeline_field = 99;
    refused(&config, "the field of the pipeline");
    lade_pipeline_destroy(pipeline);
    cr_assert_eq(lade_pipeline_create(&pipeline, &other, NULL), LADE_OK);
    config.pipeline = pipeline;
    config.pipeline_field = IMAGE;
    refused(&config, "of another size");
    lade_pipeline_destroy(pipeline);
    lade_source_close(source);
    struct sequences s = {tokens_of, never};
    source = open_sequences(&s, 10, UINT64_C(1) << 59);
    config = (struct lade_loader_config){.source = source, .batch = LADE_BATCH_MAX};
    refused(&config, "does not fit into memory");
    lade_source_close(source);
    source = open_sequences(&s, 10, UINT64_C(1) << 31);
    const struct lade_loader_field joined = {.name = "tokens", .ragged = LADE_RAGGED_CONCATENATED};
    config = (struct lade_loader_config){.source = source, .batch = 1, .field = &joined, .fields = 1};
    refused(&config, "need wide");
    lade_source_close(source);
    source = open_source("synthetic:count=endless");
    const struct lade_loader_field sample = {.name = "sample"};
    config = (struct lade_loader_config){.source = source, .batch = 1, .buffer = 9, .field = &sample, .fields = 1};
    refused(&config, "endless");
    lade_source_close(source);
}

/* More tensors than a batch has. */
Test(loader_fields, at_most_eight_tensors)
{
    static const uint8_t value[4];
    struct lade_source_column column[9];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    const struct lade_source_arrays arrays = {.count = 4, .column = column, .columns = 9};
    struct lade_source *source;

    for (int i = 0; i < 9; i++)
        column[i] = (struct lade_source_column){.field = {.name = names[i], .dtype = LADE_U8}, .values = value};
    cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
    struct lade_loader_config config = {.source = source, .batch = 1};
    refused(&config, "at most 8 tensors");
    const struct lade_loader_field field = {.name = "i"};
    config.field = &field;
    config.fields = 1;
    lade_loader_destroy(open_loader(&config));
    lade_source_close(source);
}

/* The pipeline transforms one field, and the others pass. */
Test(loader_fields, pipeline)
{
    const struct lade_image form = {LADE_U8, LADE_HWC, 2, 3, 1};
    const double zero = 0, one = 1;
    struct lade_source *source = open_many();
    struct lade_pipeline *pipeline;

    cr_assert_eq(lade_pipeline_create(&pipeline, &form, NULL), LADE_OK);
    cr_assert_eq(lade_pipeline_normalise(pipeline, 0.5, &zero, &one), LADE_OK);
    const struct lade_loader_field fields[] = {{.name = "tokens"}, {.name = "image"}};
    const struct lade_loader_config config = {.source = source,
                                              .pipeline = pipeline,
                                              .pipeline_field = IMAGE,
                                              .batch = 10,
                                              .threads = 2,
                                              .epochs = 1,
                                              .field = fields,
                                              .fields = 2};
    struct lade_loader *l = open_loader(&config);
    const struct expected e = {.row = same, .length = tokens_of};
    struct lade_batch b;
    uint64_t samples = 0;
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        const struct lade_shape *shape = b.tensor[1].shape;
        cr_assert(shape->dtype == LADE_F32 && shape->dims == 4 && shape->dim[0] == b.count && shape->dim[2] == 3);
        check_tokens(l, &b, &e);
        for (uint64_t i = 0; i < 6 * b.count; i++)
            cr_assert_eq(((const float *)b.tensor[1].host)[i], (float)many.image[b.ids[i / 6]][i % 6 / 3][i % 3] / 2);
        samples += b.count;
        lade_loader_release(l, &b);
    }
    cr_assert_eq(samples, MANY_COUNT);
    lade_loader_destroy(l);
    lade_pipeline_destroy(pipeline);
    lade_source_close(source);
}

/* Stream mode: each sample once in each epoch, and with in_order the same batches for any number of threads. */
Test(loader_fields, stream)
{
    struct lade_source *source = open_many();
    uint64_t hash[2] = {1, 1};

    for (int run = 0; run < 2; run++) {
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 5,
                                                  .buffer = 20,
                                                  .threads = run ? 3 : 1,
                                                  .in_order = true,
                                                  .epochs = 3,
                                                  .fault = LADE_FAULT_SUBSTITUTE};
        const struct expected e = {.row = same, .length = tokens_of};
        struct lade_loader *l = open_loader(&config);
        unsigned seen[MANY_COUNT] = {0};
        struct lade_batch b;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
            check_fixed(l, &b);
            check_tokens(l, &b, &e);
            for (uint64_t row = 0; row < b.count; row++)
                seen[b.ids[row]]++;
            hash[run] = hash_batch(hash[run], &b);
            lade_loader_release(l, &b);
        }
        for (unsigned i = 0; i < MANY_COUNT; i++)
            cr_assert_eq(seen[i], 3);
        lade_loader_destroy(l);
    }
    cr_assert_eq(hash[0], hash[1]);
    lade_source_close(source);
}

/* Each tensor is exported once, with its own shape, and holds the memory of a detached batch. */
Test(loader_fields, exported_and_detached)
{
    struct lade_source *source = open_many();
    const struct lade_loader_config config = {.source = source, .batch = 8, .threads = 1, .slots = 2, .epochs = 1};
    struct lade_loader *l = open_loader(&config);
    struct lade_batch b = next_of(l), other;
    struct DLManagedTensorVersioned *managed[7], *again;
    const struct expected e = {.row = same, .length = tokens_of};
    const uint64_t hash = hash_batch(1, &b);

    cr_assert_eq(lade_loader_export(l, &b, 7, LADE_DONE_NOW, NULL, &again, NULL), LADE_INVALID);
    for (unsigned t = 0; t < 7; t++) {
        cr_assert_eq(lade_loader_export(l, &b, t, LADE_DONE_NOW, NULL, &managed[t], NULL), LADE_OK);
        cr_assert_eq(lade_loader_export(l, &b, t, LADE_DONE_NOW, NULL, &again, NULL), LADE_TOO_MANY);
        const DLTensor *d = &managed[t]->dl_tensor;
        cr_assert_eq(d->ndim, (int32_t)b.tensor[t].shape->dims);
        cr_assert_eq(d->data, b.tensor[t].host);
        cr_assert_eq((size_t)d->dtype.bits / 8, lade_dtype_size(b.tensor[t].shape->dtype));
        for (int i = 0; i < d->ndim; i++)
            cr_assert_eq(d->shape[i], (int64_t)b.tensor[t].shape->dim[i]);
    }
    cr_assert_eq(lade_loader_detach(l, &b, NULL), LADE_OK);
    while (lade_loader_next(l, &other, LADE_FOREVER, NULL) == LADE_OK)
        lade_loader_release(l, &other);
    check_tokens(l, &b, &e);
    cr_assert_eq(hash_batch(1, &b), hash);
    lade_loader_release(l, &b);
    lade_loader_destroy(l);
    lade_source_close(source);
    cr_assert_eq(((const uint8_t *)managed[0]->dl_tensor.data)[0], many.image[b.ids[0]][0][0]);
    for (unsigned t = 0; t < 7; t++)
        managed[t]->deleter(managed[t]);
}

/* A sample of no steps in each row: a batch has values only where there are some. */
Test(loader_fields, empty_samples)
{
    static int64_t offsets[11];
    static const uint8_t value = 9;

    for (int joined = 0; joined < 2; joined++) {
        const struct lade_source_column column = {.field = {.name = "r", .dtype = LADE_U8},
                                                  .values = &value,
                                                  .offsets = offsets,
                                                  .offset_dtype = LADE_I64,
                                                  .steps = 1};
        const struct lade_source_arrays arrays = {.count = 10, .column = &column, .columns = 1};
        const struct lade_loader_field field = {.name = "r",
                                                .ragged = joined ? LADE_RAGGED_CONCATENATED : LADE_RAGGED_PADDED};
        struct lade_source *source;
        cr_assert_eq(lade_source_open_arrays(&source, &arrays, NULL), LADE_OK);
        const struct lade_loader_config config = {
            .source = source, .batch = 4, .threads = 1, .field = &field, .fields = 1};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b = next_of(l);
        cr_assert_eq(b.tensor[0].shape->dim[0], joined ? 0 : 4);
        cr_assert_eq(b.tensor[1].shape->dim[0], joined ? 5 : 4);
        for (uint64_t i = 0; i < 4; i++)
            cr_assert_eq(index_at(&b.tensor[1], i), 0);
        cr_assert(joined || (b.tensor[0].shape->dim[1] == 1 && ((const uint8_t *)b.samples)[3] == 0));
        lade_loader_release(l, &b);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

/* SPDX-License-Identifier: MIT */
/*
 * The order of a loader's samples against the distribution that the header states for each mode. Assumptions, false
 * alarms and power of each test: chi.h. Samples with a known fault must fail the same test.
 */
#include "check.h"
#include "chi.h"

#include <lade/loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100, PARTS = 10, CLASSES = 4 };

static void need(int status)
{
    if (status != LADE_OK) {
        fprintf(stderr, "a loader returned: %s\n", lade_status_text(status));
        exit(2);
    }
}

/* Class 0 has 70 of 100 samples, the others 10 each. */
static unsigned class_of(uint64_t i)
{
    return i % 10 < 7 ? 0 : (unsigned)(i % 10) - 6;
}

static bool is_faulty(uint64_t i)
{
    return i % 10 == 3;
}

/* self: whether some samples cannot be read. */
static int read_number(void *self, uint64_t i, void *to, int64_t *label, struct lade_error *error)
{
    (void)error;
    memcpy(to, &i, sizeof i);
    *label = class_of(i);
    return self && is_faulty(i) ? LADE_DAMAGED : LADE_OK;
}

static struct lade_source *numbers(uint64_t count, bool faulty)
{
    static const struct lade_source_ops ops = {.read = read_number};
    static char yes;
    const struct lade_source_info info = {
        .kind = "numbers", .count = count, .shape = {LADE_U64, 0, {0}}, .bytes = 8, .classes = CLASSES};
    struct lade_source *source;

    need(lade_source_open_custom(&source, &ops, faulty ? &yes : NULL, &info, NULL, NULL));
    return source;
}

/* Faults that are injected between a loader and its test. */
enum fault {
    NONE,
    SHY,   /* one sample in twenty never comes, the ones before it come twice */
    AGAIN, /* each odd epoch repeats the one before it, moved by a third */
    HEAVY, /* one draw in 50 that was not sample 0 becomes sample 0 */
};

static uint64_t spoil(enum fault fault, uint64_t id, uint64_t count, uint64_t *state)
{
    if (fault == SHY)
        return id >= count - count / 20 ? id - count / 20 : id;
    if (fault == HEAVY)
        return check_below(state, 50) == 0 ? 0 : id;
    return id;
}

/* Runs a loader whose batch is an epoch, and calls each of them back. */
struct epochs {
    struct lade_loader_config config;
    enum fault fault;
    void (*take)(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count);
    uint64_t count[COUNT * COUNT];
};

static void run(struct epochs *e, uint64_t epochs)
{
    struct lade_loader *l;
    struct lade_batch b;
    uint64_t state = check_seed(), ids[COUNT], before[COUNT] = {0};

    e->config.batch = COUNT;
    e->config.epochs = epochs;
    e->config.threads = 2;
    e->config.in_order = true;
    e->config.seed = check_seed();
    memset(e->count, 0, sizeof e->count);
    need(lade_loader_create(&l, &e->config, NULL));
    while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK) {
        for (uint64_t i = 0; i < b.count; i++) {
            ids[i] = spoil(e->fault, b.ids[i], COUNT, &state);
            if (e->fault == AGAIN && b.epoch % 2)
                ids[i] = (before[i] + COUNT / 3) % COUNT;
            before[i] = ids[i];
        }
        e->take(e, b.epoch, ids, b.count);
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
}

/* Null: the sample at a position of an epoch is uniform over the epochs. */
static uint64_t place;

static void take_place(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count)
{
    (void)epoch;
    (void)count;
    e->count[ids[place]]++;
}

/* Null: the samples at a position in two consecutive epochs are independent and uniform. Few positions are tested. */
static void take_pair(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count)
{
    static uint64_t before[COUNT];

    for (uint64_t i = 0; i < count; i += COUNT / PARTS)
        if (epoch % 2)
            e->count[before[i] * PARTS / COUNT * PARTS + ids[i] * PARTS / COUNT]++;
        else
            before[i] = ids[i];
}

static void order(void)
{
    struct lade_source *source = numbers(COUNT, false);
    static struct epochs e;
    const uint64_t epochs = check_full() ? 200000 : 20000;
    char text[80];

    e = (struct epochs){.config = {.source = source}, .take = take_place};
    for (place = 0; place < COUNT; place += 33) {
        run(&e, epochs);
        (void)snprintf(text, sizeof text, "sample at place %llu of 100", (unsigned long long)place);
        chi_expect(chi_test(e.count, NULL, COUNT), "order", text);
    }
    place = 0;
    e.fault = SHY;
    run(&e, epochs);
    chi_expect_failure(chi_test(e.count, NULL, COUNT), "order", "one sample in twenty never comes");
    e.fault = NONE;
    e.take = take_pair;
    run(&e, epochs);
    chi_expect(chi_test(e.count, NULL, PARTS * PARTS), "order", "the same places of two epochs in a row");
    e.fault = AGAIN;
    run(&e, epochs);
    chi_expect_failure(chi_test(e.count, NULL, PARTS * PARTS), "order", "the epoch before, moved by a third");
    lade_source_close(source);
}

static void take_all(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count)
{
    (void)epoch;
    for (uint64_t i = 0; i < count; i++)
        e->count[ids[i]]++;
}

/* Null: two consecutive positions are independent, in cells of ten samples. */
static void take_neighbours(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count)
{
    (void)epoch;
    for (uint64_t i = 0; i + 1 < count; i += 2)
        e->count[ids[i] % PARTS * PARTS + ids[i + 1] % PARTS]++;
}

/* Null: each position is drawn independently with these weights. */
static void draws(void)
{
    struct lade_source *source = numbers(COUNT, false);
    static struct epochs e;
    const uint64_t epochs = check_full() ? 50000 : 5000;
    double weight[COUNT], balanced[COUNT], pair[PARTS * PARTS], tens[PARTS] = {0};
    static const double size[CLASSES] = {70, 10, 10, 10};

    for (unsigned i = 0; i < COUNT; i++) {
        weight[i] = 1 + i % 7;
        balanced[i] = 1 / size[class_of(i)];
        tens[i % PARTS] += weight[i];
    }
    for (unsigned i = 0; i < PARTS * PARTS; i++)
        pair[i] = tens[i / PARTS] * tens[i % PARTS];
    e = (struct epochs){.config = {.source = source, .draw = LADE_DRAW_WEIGHTED, .weight = weight}, .take = take_all};
    run(&e, epochs);
    chi_expect(chi_test(e.count, weight, COUNT), "weights", "100 samples, weights 1 to 7");
    e.take = take_neighbours;
    run(&e, epochs);
    chi_expect(chi_test(e.count, pair, PARTS * PARTS), "weights", "two places in a row");
    e.fault = HEAVY;
    e.take = take_all;
    run(&e, epochs);
    chi_expect_failure(chi_test(e.count, weight, COUNT), "weights", "one sample 2 % of draws too often");
    e.fault = NONE;
    e.config.draw = LADE_DRAW_BALANCED;
    run(&e, epochs);
    chi_expect(chi_test(e.count, balanced, COUNT), "balance", "4 classes of 70, 10, 10 and 10 samples");
    e.config.draw = LADE_DRAW_ONCE;
    run(&e, epochs);
    chi_expect_failure(chi_test(e.count, balanced, COUNT), "balance", "each sample once instead");
    lade_source_close(source);
}

/* Null: the replacement of a faulty sample is uniform over those that can be read. */
static void take_substitutes(struct epochs *e, uint64_t epoch, const uint64_t *ids, uint64_t count)
{
    (void)epoch;
    for (uint64_t i = 0; i < count; i++)
        if (is_faulty(i)) /* in the given order */
            e->count[ids[i] - (ids[i] + 6) / 10]++;
}

static void substitutes(void)
{
    struct lade_source *source = numbers(COUNT, true);
    static struct epochs e;
    const uint64_t epochs = check_full() ? 50000 : 5000;

    e = (struct epochs){.config = {.source = source, .sequential = true, .fault = LADE_FAULT_SUBSTITUTE},
                        .take = take_substitutes};
    run(&e, epochs);
    chi_expect(chi_test(e.count, NULL, COUNT - COUNT / 10), "substitutes", "10 of 100 samples cannot be read");
    e.fault = HEAVY;
    run(&e, epochs);
    chi_expect_failure(chi_test(e.count, NULL, COUNT - COUNT / 10), "substitutes", "one sample 2 % of draws too often");
    lade_source_close(source);
}

/* The same samples as an array, of which the loader takes the numbers. */
static struct lade_source *array_of(uint64_t count)
{
    static uint64_t rows[COUNT];
    const struct lade_source_array array = {.samples = rows, .count = count, .shape = {LADE_U64, 0, {0}}};
    struct lade_source *source;

    for (uint64_t i = 0; i < count; i++)
        rows[i] = i;
    need(lade_source_open_array(&source, &array, NULL));
    return source;
}

/*
 * A buffer that is half full with all samples of the stream, so that the draws are known: null, the first and the last sample
 * that come are uniform, whatever the order in which they were put.
 */
static struct chi_result stream(enum fault fault, bool last, bool array, uint64_t trials)
{
    enum { SAMPLES = 20 };
    struct lade_source *source = array ? array_of(SAMPLES) : numbers(SAMPLES, false);
    uint64_t count[SAMPLES] = {0}, state = check_seed();

    for (uint64_t t = 0; t < trials; t++) {
        const struct lade_loader_config config = {.source = source,
                                                  .batch = SAMPLES,
                                                  .buffer = 2 * SAMPLES,
                                                  .epochs = 1,
                                                  .threads = 1,
                                                  .slots = 1,
                                                  .sequential = true,
                                                  .seed = check_seed() + t};
        struct lade_loader *l;
        struct lade_batch b;
        need(lade_loader_create(&l, &config, NULL));
        need(lade_loader_next(l, &b, LADE_FOREVER, NULL));
        count[spoil(fault, b.ids[last ? SAMPLES - 1 : 0], SAMPLES, &state)]++;
        lade_loader_destroy(l);
    }
    lade_source_close(source);
    return chi_test(count, NULL, SAMPLES);
}

/*
 * A buffer of 20 in a set of 100 that is read by number. Null: the first sample is uniform over the first 20, and the
 * next one over the remaining ones and sample 20, which replaced the first.
 */
static struct chi_result stream_of_numbers(enum fault fault, bool second, uint64_t trials)
{
    enum { HELD = 20 };
    struct lade_source *source = array_of(COUNT);
    uint64_t count[HELD] = {0}, state = check_seed();

    for (uint64_t t = 0; t < trials; t++) {
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 2,
                                                  .buffer = HELD,
                                                  .epochs = 1,
                                                  .threads = 1,
                                                  .slots = 1,
                                                  .in_order = true,
                                                  .sequential = true,
                                                  .seed = check_seed() + t};
        struct lade_loader *l;
        struct lade_batch b;
        need(lade_loader_create(&l, &config, NULL));
        need(lade_loader_next(l, &b, LADE_FOREVER, NULL));
        /* Of the 20 candidates for the second, those after the first move down by one. */
        uint64_t id = second ? b.ids[1] - (b.ids[1] > b.ids[0]) : b.ids[0];
        if (id < HELD)
            count[spoil(fault, id, HELD, &state)]++;
        lade_loader_destroy(l);
    }
    lade_source_close(source);
    return chi_test(count, NULL, HELD);
}

int main(int argc, char **argv)
{
    const uint64_t trials = 4000;

    check_begin(argc, argv);
    const uint64_t more = trials * (check_full() ? 10 : 1);
    order();
    draws();
    substitutes();
    for (int array = 0; array < 2; array++) {
        const char *name = array ? "stream of numbers" : "stream";
        chi_expect(stream(NONE, false, array, more), name, "the first of 20 samples");
        chi_expect(stream(NONE, true, array, more), name, "the last of 20 samples");
        chi_expect_failure(stream(SHY, false, array, trials), name, "one sample in twenty never comes");
    }
    chi_expect(stream_of_numbers(NONE, false, more), "stream of numbers", "the first of a buffer of 20");
    chi_expect(stream_of_numbers(NONE, true, more), "stream of numbers", "the second of a buffer of 20");
    chi_expect_failure(stream_of_numbers(SHY, true, trials), "stream of numbers", "one sample in twenty never comes");
    chi_budget();
    return check_end();
}

/* SPDX-License-Identifier: MIT */
/* Packed batches of a mixture. What an epoch holds is compared with the same mixture unpacked. */
#include "packs.h"

#include <lade/mixture.h>

enum { SOURCES = 3, ROW = 40, WINDOW = 24, MOST = 1000 };

/* Sources of these samples, together those of packs.h. */
static const uint64_t samples[SOURCES] = {60, 43, 100};
static const uint32_t weights[SOURCES] = {5, 3, 2};

/* A part of the numbers, from base on. */
struct part {
    uint64_t base;
    bool (*fails)(uint64_t id);
};

static int length_in_part(void *self, uint64_t i, unsigned field, uint64_t *length, struct lade_error *error)
{
    const struct part *p = self;

    (void)field;
    (void)error;
    *length = spread(p->base + i);
    return LADE_OK;
}

static int read_in_part(void *self, uint64_t i, const struct lade_view *views, struct lade_error *error)
{
    const struct part *p = self;
    struct sequences s = {.fails = p->fails};

    return read_sequence(&s, p->base + i, views, error);
}

static struct lade_source *mix(struct part parts[SOURCES], const uint32_t *weight, int end)
{
    const struct lade_field field = {.name = "tokens", .dtype = LADE_I32, .ragged_max = LONGEST};
    const struct lade_schema schema = {1, &field, LADE_NO_FIELD, LADE_NO_FIELD, LADE_NO_FIELD};
    const struct lade_source_ops ops = {.length = length_in_part, .read_fields = read_in_part};
    struct lade_source *source[SOURCES], *mixture;

    for (unsigned s = 0; s < SOURCES; s++) {
        const struct lade_source_info info = {.kind = "part", .count = samples[s], .schema = &schema};
        parts[s].base = s > 0 ? parts[s - 1].base + samples[s - 1] : 0;
        cr_assert_eq(lade_source_open_custom(&source[s], &ops, &parts[s], &info, NULL, NULL), LADE_OK);
    }
    const struct lade_source_mixture config = {
        .source = source, .weight = weight, .sources = SOURCES, .end = (enum lade_mixture_end)end, .owned = true};
    cr_assert_eq(lade_source_open_mixture(&mixture, &config, NULL), LADE_OK);
    return mixture;
}

static struct lade_loader_config packed(struct lade_source *source)
{
    return (struct lade_loader_config){.source = source,
                                       .batch = 2,
                                       .threads = 2,
                                       .in_order = true,
                                       .epochs = 1,
                                       .seed = 7,
                                       .pack_row = ROW,
                                       .pack_window = WINDOW};
}

/* The order of an epoch by a loader that does not pack. */
static uint64_t order_of(struct lade_loader_config config, uint64_t ids[MOST])
{
    struct lade_batch b;
    uint64_t n = 0;

    config.pack_row = config.pack_window = 0;
    config.fault = LADE_FAULT_FAIL;
    struct lade_loader *l = open_loader(&config);
    while (lade_loader_next(l, &b, INT64_C(60000000000), NULL) == LADE_OK) {
        cr_assert_leq(n + b.count, MOST);
        memcpy(ids + n, b.ids, b.count * sizeof *ids);
        n += b.count;
        lade_loader_release(l, &b);
    }
    lade_loader_destroy(l);
    return n;
}

/* Rows of a window hold the samples of a window of the law's order, and nothing else. */
static void follow_windows(const struct lade_loader_config *config, const uint64_t *order, uint64_t count)
{
    struct lade_loader *l = open_loader(config);
    int balance[PACK_COUNT] = {0};
    uint64_t n = 0, due = 0, windows = 0;
    struct lade_batch b;

    while (lade_loader_next(l, &b, INT64_C(60000000000), NULL) == LADE_OK) {
        for (uint64_t i = 0; i < b.count; i++) {
            for (; due < count && due < (n / WINDOW + 1) * WINDOW; due++)
                balance[order[due]]++;
            cr_assert_lt(n, count);
            balance[b.ids[i]]--;
            if (++n % WINDOW != 0 && n != count)
                continue;
            for (uint64_t id = 0; id < PACK_COUNT; id++)
                cr_assert_eq(balance[id], 0, "sample %llu after %llu", (unsigned long long)id, (unsigned long long)n);
            windows++;
        }
        lade_loader_release(l, &b);
    }
    cr_assert_eq(n, count);
    cr_assert_eq(windows, (count + WINDOW - 1) / WINDOW);
    lade_loader_destroy(l);
}

/* Steps and entries of each sample: as often as in the order. */
static void same_samples(const struct rows *r, const uint64_t *order, uint64_t count)
{
    uint32_t times[PACK_COUNT] = {0};

    for (uint64_t i = 0; i < count; i++)
        times[order[i]]++;
    for (uint64_t i = 0; i < PACK_COUNT; i++) {
        cr_assert_eq(r->entries[i], times[i], "sample %llu", (unsigned long long)i);
        for (uint64_t k = 0; k < LONGEST; k++)
            cr_assert_eq(r->seen[i][k], k < spread(i) ? times[i] : 0);
    }
}

Test(loader_pack_mixture, each_rule_of_the_end)
{
    const uint64_t least[] = {[LADE_MIXTURE_REPEAT] = 490, [LADE_MIXTURE_DROP] = 203, [LADE_MIXTURE_STOP] = 119};
    const uint64_t most[] = {[LADE_MIXTURE_REPEAT] = 500, [LADE_MIXTURE_DROP] = 203, [LADE_MIXTURE_STOP] = 122};

    for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
        struct part parts[SOURCES] = {{0}};
        struct lade_source *source = mix(parts, weights, end);
        struct lade_loader_config config = packed(source);
        uint64_t order[MOST];
        const uint64_t count = order_of(config, order);
        cr_assert(count >= least[end] && count <= most[end], "%llu", (unsigned long long)count);
        struct rows *r = all_rows(&config);
        same_samples(r, order, count);
        follow_windows(&config, order, count);
        config.in_order = false;
        config.threads = 3;
        struct rows *ready = all_rows(&config);
        same_samples(ready, order, count);
        rows_free(ready);
        rows_free(r);
        lade_source_close(source);
    }
}

Test(loader_pack_mixture, resume_at_every_batch)
{
    for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
        struct part parts[SOURCES] = {{0}};
        struct lade_source *source = mix(parts, weights, end);
        struct lade_loader_config config = packed(source), other = config;
        config.epochs = other.epochs = 2;
        struct rows *whole = all_rows(&config), *r = rows_new();
        struct lade_loader *l = open_loader(&config);
        for (uint64_t batch = 0; batch <= whole->batches; batch++) {
            char *state = state_of(l);
            struct rows *left = rows_new();
            other.threads = 1 + (unsigned)batch % 2;
            other.batch = 1 + batch % 5;
            struct lade_loader *m = resume(&other, state);
            cr_assert_eq(take_rows(m, left, ROW, UINT64_MAX), LADE_CLOSED);
            cr_assert_eq(left->count, whole->count - r->count, "at batch %llu", (unsigned long long)batch);
            for (uint64_t i = 0; i < left->count; i++)
                cr_assert_eq(left->hash[i], whole->hash[r->count + i]);
            lade_loader_destroy(m);
            rows_free(left);
            free(state);
            cr_assert_eq(take_rows(l, r, ROW, 1), batch < whole->batches ? LADE_OK : LADE_CLOSED);
        }
        lade_loader_destroy(l);
        rows_free(r);
        rows_free(whole);
        lade_source_close(source);
    }
}

/* Three shards, of which some are ahead, then two, then four that end the epoch. */
Test(loader_pack_mixture, other_shards)
{
    static const struct {
        unsigned shards;
        uint64_t batches[4];
    } run[] = {{3, {4, 0, 2}}, {2, {1, 5}}, {4, {999, 999, 999, 999}}};

    for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
        struct part parts[SOURCES] = {{0}};
        struct lade_source *source = mix(parts, weights, end);
        struct lade_loader_config config = packed(source);
        uint64_t order[MOST];
        const uint64_t count = order_of(config, order);
        struct rows *r = rows_new();
        char *state = NULL;
        for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
            struct lade_error error = {.text = "no text"};
            char *states[4], *next = malloc(8192);
            config.shards = run[k].shards;
            for (config.shard = 0; config.shard < config.shards; config.shard++) {
                struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
                cr_assert_eq(take_rows(l, r, ROW, run[k].batches[config.shard]),
                             run[k].batches[config.shard] == 999 ? LADE_CLOSED : LADE_OK);
                states[config.shard] = state_of(l);
                lade_loader_destroy(l);
            }
            const size_t size =
                lade_loader_merge_states((const char *const *)states, config.shards, next, 8192, NULL, &error);
            cr_assert(size > 0 && size <= 8192, "%s", error.text);
            for (unsigned s = 0; s < config.shards; s++)
                free(states[s]);
            free(state);
            state = next;
        }
        same_samples(r, order, count);
        free(state);
        rows_free(r);
        lade_source_close(source);
    }
}

static bool some_fail(uint64_t id)
{
    return id == 3 || id == 17 || (id >= 60 && id < 63) || id == 202;
}

/* Samples that cannot be read count as faults of their source. */
Test(loader_pack_mixture, faults_of_each_source)
{
    struct part parts[SOURCES] = {{.fails = some_fail}, {.fails = some_fail}, {.fails = some_fail}};
    struct lade_source *source = mix(parts, weights, LADE_MIXTURE_DROP);
    struct lade_loader_config config = packed(source);
    struct lade_loader_share share[SOURCES];
    struct rows *r = rows_new();
    struct lade_batch b;
    uint64_t faults = 0;

    config.fault = LADE_FAULT_SKIP;
    struct lade_loader *l = open_loader(&config);
    while (lade_loader_next(l, &b, INT64_C(60000000000), NULL) == LADE_OK) {
        check_packed(r, &b, ROW, 0, true);
        faults += b.faults;
        lade_loader_release(l, &b);
    }
    cr_assert_eq(faults, 6);
    cr_assert_eq(lade_loader_shares(l, share, SOURCES), SOURCES);
    cr_assert(share[0].faults == 2 && share[1].faults == 3 && share[2].faults == 1);
    cr_assert(share[0].delivered == 58 && share[1].delivered == 40 && share[2].delivered == 99);
    for (uint64_t i = 0; i < PACK_COUNT; i++)
        cr_assert_eq(r->entries[i], !some_fail(i));
    lade_loader_destroy(l);
    rows_free(r);
    lade_source_close(source);
}

Test(loader_pack_mixture, other_weights)
{
    const uint32_t other[SOURCES] = {1, 1, 1};
    struct part parts[SOURCES] = {{0}};
    struct lade_source *source = mix(parts, weights, LADE_MIXTURE_DROP);
    struct lade_source *changed = mix(parts, other, LADE_MIXTURE_DROP);
    struct lade_loader_config config = packed(source);
    struct rows *r = rows_new();
    struct lade_loader *l = open_loader(&config);

    cr_assert_eq(take_rows(l, r, ROW, 3), LADE_OK);
    char *state = state_of(l);
    lade_loader_destroy(l);
    config.source = changed;
    expect_refusal(&config, state, LADE_CONFLICT, "weights");
    free(state);
    rows_free(r);
    lade_source_close(source);
    lade_source_close(changed);
}

/* The guarantee names what is delivered, and what happens to samples that are longer than a row. */
Test(loader_pack_mixture, guarantee)
{
    static const struct {
        int end;
        enum lade_longer longer;
        bool in_order;
        const char *text[3];
    } is[] = {{LADE_MIXTURE_REPEAT, LADE_LONGER_FAULT, false, {"each of its rounds", "is a fault", "as soon as"}},
              {LADE_MIXTURE_DROP, LADE_LONGER_SPLIT, true, {"exactly once", "in parts", "any number of threads"}},
              {LADE_MIXTURE_STOP, LADE_LONGER_CUT, true, {"at most once", "first steps", "any number of threads"}},
              {LADE_MIXTURE_DROP, LADE_LONGER_DROP, false, {"exactly once", "none longer", "as soon as"}}};

    for (size_t k = 0; k < sizeof is / sizeof *is; k++) {
        struct part parts[SOURCES] = {{0}};
        struct lade_source *source = mix(parts, weights, is[k].end);
        struct lade_loader_config config = packed(source);
        struct lade_loader_stats stats;
        config.pack_longer = is[k].longer;
        config.in_order = is[k].in_order;
        struct lade_loader *l = open_loader(&config);
        lade_loader_stats(l, &stats);
        for (int i = 0; i < 3; i++)
            cr_assert(strstr(stats.guarantee, is[k].text[i]), "%s", stats.guarantee);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

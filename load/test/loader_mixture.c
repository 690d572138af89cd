/* SPDX-License-Identifier: MIT */
/* Loaders of mixtures: shares, orders, resume, shards and changes of weight. */
#include "states.h"

#include "checksum.h"

#include <lade/mixture.h>
#include <math.h>

enum { MOST = LADE_MIXTURE_SOURCES_MAX };

/* Sources of these many numbers, which a mixture owns. */
static struct lade_source *mix(unsigned sources, const uint64_t *samples, const uint32_t *weight,
                               enum lade_mixture_end end)
{
    struct lade_source *source[MOST], *mixture;
    struct lade_error error = {.text = "no text"};

    for (unsigned s = 0; s < sources; s++)
        source[s] = numbers(samples[s]);
    const struct lade_source_mixture config = {
        .source = source, .weight = weight, .sources = sources, .end = end, .owned = true};
    cr_assert_eq(lade_source_open_mixture(&mixture, &config, &error), LADE_OK, "%s", error.text);
    return mixture;
}

/* The next samples of a loader, checked; to[i] = {source, number}. How many. */
static uint64_t take_mixed(struct lade_loader *l, const struct lade_source *mixture, uint64_t batches,
                           uint64_t (*to)[2], uint64_t capacity)
{
    struct lade_batch b;
    uint64_t n = 0;

    while (batches-- > 0 && lade_loader_next(l, &b, INT64_C(60000000000), NULL) == LADE_OK) {
        for (uint64_t i = 0; i < b.count; i++) {
            unsigned source;
            uint64_t number, bytes[2];
            cr_assert_lt(n, capacity);
            cr_assert_eq(lade_source_mixture_find(mixture, b.ids[i], &source, &number), LADE_OK);
            memcpy(bytes, (const char *)b.samples + 16 * i, sizeof bytes);
            cr_assert_eq(bytes[0], number, "the content is that of another sample");
            to[n][0] = source;
            to[n++][1] = number;
        }
        lade_loader_release(l, &b);
    }
    return n;
}

static const uint64_t three[3] = {40, 25, 90};
static const uint32_t by[3] = {5, 3, 2};

static void expect_law(const uint64_t (*got)[2], uint64_t count, const uint32_t *weight, unsigned sources)
{
    int64_t dealt[MOST] = {0}, sum = 0;

    for (unsigned s = 0; s < sources; s++)
        sum += weight[s];
    for (uint64_t t = 1; t <= count; t++) {
        dealt[got[t - 1][0]]++;
        for (unsigned s = 0; s < sources; s++)
            cr_assert(llabs(dealt[s] * sum - (int64_t)t * weight[s]) < sum, "source %u has %lld of %llu", s,
                      (long long)dealt[s], (unsigned long long)t);
    }
}

Test(loader_mixture, each_rule_of_the_end_delivers_what_it_states)
{
    for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
        struct lade_source *source = mix(3, three, by, (enum lade_mixture_end)end);
        const struct lade_loader_config config = {
            .source = source, .batch = 7, .in_order = true, .epochs = 1, .seed = 5, .threads = 2};
        struct lade_loader *l = open_loader(&config);
        static uint64_t got[1000][2];
        uint32_t seen[3][90] = {{0}};
        const uint64_t n = take_mixed(l, source, UINT64_MAX, got, 1000);
        for (uint64_t i = 0; i < n; i++)
            seen[got[i][0]][got[i][1]]++;
        if (end == LADE_MIXTURE_DROP)
            cr_assert_eq(n, 155);
        else
            expect_law((const uint64_t(*)[2])got, n, by, 3);
        cr_assert(end != LADE_MIXTURE_STOP || (n >= 79 && n < 86), "%llu", (unsigned long long)n); /* 40 at 5 of 10 */
        cr_assert(end != LADE_MIXTURE_REPEAT || (n > 445 && n <= 450), "%llu", (unsigned long long)n);
        for (unsigned s = 0; s < 3; s++)
            for (uint64_t k = 0; k < three[s]; k++) {
                const uint32_t least = end != LADE_MIXTURE_STOP, most = end != LADE_MIXTURE_REPEAT ? 1 : s == 0 ? 6 : 6;
                cr_assert(seen[s][k] >= least && seen[s][k] <= most, "sample %u/%llu came %u times", s,
                          (unsigned long long)k, seen[s][k]);
            }
        lade_loader_destroy(l);
        lade_source_close(source);
    }
}

/* Within a source each round is a permutation: no sample comes again before all others came. */
Test(loader_mixture, a_repeated_source_comes_in_whole_rounds_of_different_orders)
{
    struct lade_source *source = mix(3, three, by, LADE_MIXTURE_REPEAT);
    const struct lade_loader_config config = {
        .source = source, .batch = 16, .in_order = true, .epochs = 1, .seed = 6, .threads = 1};
    struct lade_loader *l = open_loader(&config);
    static uint64_t got[1000][2];
    uint64_t order[3][6][90], at[3] = {0};
    const uint64_t n = take_mixed(l, source, UINT64_MAX, got, 1000);

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = got[i][0], round = at[s] / three[s];
        cr_assert_lt(round, 6);
        order[s][round][at[s]++ % three[s]] = got[i][1];
    }
    for (unsigned s = 0; s < 3; s++)
        for (uint64_t round = 0; round < at[s] / three[s]; round++) {
            bool seen[90] = {false};
            for (uint64_t k = 0; k < three[s]; k++) {
                cr_assert_not(seen[order[s][round][k]]);
                seen[order[s][round][k]] = true;
            }
            cr_assert(round == 0 || memcmp(order[s][round], order[s][0], three[s] * sizeof(uint64_t)) != 0);
        }
    lade_loader_destroy(l);
    lade_source_close(source);
}

/*
 * The first sample of each of 4 sources of 8, over 4,000 seeds: chi-square with 7 degrees of freedom each. Above 60 has a
 * probability of 1.5e-10.
 */
Test(loader_mixture, each_sources_own_order_is_uniform)
{
    const uint64_t samples[4] = {8, 8, 8, 8};
    const uint32_t weight[4] = {1, 1, 2, 3};
    struct lade_source *source = mix(4, samples, weight, LADE_MIXTURE_DROP);
    uint64_t count[4][8] = {{0}};
    double pairs[8][8] = {{0}};

    for (uint64_t seed = 0; seed < 4000; seed++) {
        const struct lade_loader_config config = {
            .source = source, .batch = 32, .in_order = true, .epochs = 1, .seed = seed, .threads = 1, .slots = 1};
        struct lade_loader *l = open_loader(&config);
        uint64_t got[32][2], first[4] = {9, 9, 9, 9};
        cr_assert_eq(take_mixed(l, source, 1, got, 32), 32);
        for (int i = 0; i < 32; i++)
            if (first[got[i][0]] == 9)
                count[got[i][0]][first[got[i][0]] = got[i][1]]++;
        pairs[first[0]][first[1]]++;
        lade_loader_destroy(l);
    }
    for (int s = 0; s < 4; s++) {
        double chi = 0;
        for (int k = 0; k < 8; k++)
            chi += pow((double)count[s][k] - 500, 2) / 500;
        cr_assert_lt(chi, 60, "source %d: %f", s, chi);
    }
    /* Two sources are independent: 63 degrees of freedom; above 170 has a probability of 3e-12. */
    double chi = 0;
    for (int a = 0; a < 8; a++)
        for (int b = 0; b < 8; b++)
            chi += pow(pairs[a][b] - 62.5, 2) / 62.5;
    cr_assert_lt(chi, 170, "%f", chi);
    lade_source_close(source);
}

Test(loader_mixture, batches_are_the_same_for_any_threads_and_after_a_resume_at_every_batch)
{
    for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
        struct lade_source *source = mix(3, three, by, (enum lade_mixture_end)end);
        struct lade_loader_config config = {
            .source = source, .batch = 8, .in_order = true, .epochs = 2, .seed = 8, .threads = 1};
        static uint64_t whole[1000][2], part[1000][2];
        struct lade_loader *l = open_loader(&config);
        const uint64_t n = take_mixed(l, source, UINT64_MAX, whole, 1000);
        lade_loader_destroy(l);
        for (uint64_t stop = 0; stop * 8 <= n; stop++) {
            config.threads = 1 + (unsigned)stop % 3;
            l = open_loader(&config);
            uint64_t m = take_mixed(l, source, stop, part, 1000);
            char *state = state_of(l);
            lade_loader_destroy(l);
            l = resume(&config, state);
            m += take_mixed(l, source, UINT64_MAX, part + m, 1000 - m);
            cr_assert_eq(m, n);
            cr_assert(memcmp(part, whole, n * sizeof *whole) == 0, "end %d, stopped after %llu", end,
                      (unsigned long long)stop);
            free(state);
            lade_loader_destroy(l);
        }
        lade_source_close(source);
    }
}

Test(loader_mixture, shards_divide_the_order)
{
    struct lade_source *source = mix(3, three, by, LADE_MIXTURE_DROP);
    struct lade_loader_config config = {
        .source = source, .batch = 155, .in_order = true, .epochs = 1, .seed = 9, .threads = 1};
    static uint64_t whole[155][2], part[155][2];
    struct lade_loader *l = open_loader(&config);

    cr_assert_eq(take_mixed(l, source, 1, whole, 155), 155);
    lade_loader_destroy(l);
    for (unsigned shard = 0; shard < 5; shard++) {
        config.shard = shard;
        config.shards = 5;
        l = open_loader(&config);
        cr_assert_eq(take_mixed(l, source, UINT64_MAX, part, 155), 31);
        for (uint64_t i = 0; i < 31; i++)
            cr_assert(memcmp(part[i], whole[5 * i + shard], sizeof *part) == 0);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

/* Each of the sources continues its order, and the new weights hold from there on. */
static void change(enum lade_mixture_end end, unsigned shards)
{
    static const uint64_t many[3] = {4000, 3000, 5000};
    static const uint32_t weights[4][3] = {{5, 3, 2}, {1, 1, 1}, {0, 7, 2}, {10, 6, 4}};
    static uint64_t got[4000][2], whole[4000][2];
    uint64_t n = 0;
    char *state = NULL;

    for (int step = 0; step < 4; step++) {
        struct lade_source *source = mix(3, many, weights[step], end);
        struct lade_loader_config config = {
            .source = source, .batch = 10, .in_order = true, .epochs = 1, .seed = 10, .threads = 2, .shards = shards};
        uint64_t part[5][300][2];
        char *states[5] = {NULL};
        struct lade_error error = {.text = ""};
        for (config.shard = 0; config.shard < shards; config.shard++) {
            struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
            cr_assert_eq(take_mixed(l, source, 11, part[config.shard], 300), 110);
            states[config.shard] = state_of(l);
            lade_loader_destroy(l);
        }
        for (uint64_t i = 0; i < 110; i++)
            for (unsigned r = 0; r < shards; r++)
                memcpy(got[n++], part[r][i], sizeof *got);
        expect_law((const uint64_t(*)[2])got + n - shards * 110, shards * UINT64_C(110), weights[step], 3);
        free(state);
        state = malloc(4096);
        const size_t size = lade_loader_merge_states((const char *const *)states, shards, state, 4096, NULL, &error);
        cr_assert(size > 0 && size < 1024, "%s", error.text);
        for (unsigned r = 0; r < shards; r++)
            free(states[r]);
        lade_source_close(source);
    }
    free(state);
    /* Each source's own order is that of a run without a change. */
    struct lade_source *source = mix(3, many, weights[0], end);
    const struct lade_loader_config config = {
        .source = source, .batch = 10, .in_order = true, .epochs = 1, .seed = 10, .threads = 2};
    struct lade_loader *l = open_loader(&config);
    uint64_t at[3] = {0};
    const uint64_t m = take_mixed(l, source, 400, whole, 4000);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t s = got[i][0];
        while (at[s] < m && whole[at[s]][0] != s)
            at[s]++;
        if (at[s] < m)
            cr_assert_eq(got[i][1], whole[at[s]++][1], "sample %llu", (unsigned long long)i);
    }
    lade_loader_destroy(l);
    lade_source_close(source);
}

Test(loader_mixture, weights_change_at_a_boundary_of_batches)
{
    change(LADE_MIXTURE_REPEAT, 1);
    change(LADE_MIXTURE_DROP, 1);
    change(LADE_MIXTURE_STOP, 5);
}

/* After a change the law runs on from the change, however often the run is resumed. */
Test(loader_mixture, a_changed_run_resumes_at_every_batch)
{
    static const uint32_t other[3] = {1, 4, 1};
    static uint64_t whole[1000][2], part[1000][2];
    struct lade_source *first = mix(3, three, by, LADE_MIXTURE_DROP), *source = mix(3, three, other, LADE_MIXTURE_DROP);
    struct lade_loader_config config = {
        .source = first, .batch = 8, .in_order = true, .epochs = 2, .seed = 8, .threads = 2};
    struct lade_loader *l = open_loader(&config);

    cr_assert_eq(take_mixed(l, first, 3, part, 1000), 24);
    char *changed = state_of(l);
    lade_loader_destroy(l);
    config.source = source;
    l = resume(&config, changed);
    const uint64_t n = take_mixed(l, source, UINT64_MAX, whole, 1000);
    cr_assert_eq(n, 155 - 24 + 155);
    expect_law((const uint64_t(*)[2])whole, 20, other, 3);
    lade_loader_destroy(l);
    for (uint64_t stop = 0; stop * 8 <= n; stop++) {
        l = resume(&config, changed);
        uint64_t m = take_mixed(l, source, stop, part, 1000);
        char *state = state_of(l);
        lade_loader_destroy(l);
        l = resume(&config, state);
        m += take_mixed(l, source, UINT64_MAX, part + m, 1000 - m);
        cr_assert(m == n && memcmp(part, whole, n * sizeof *whole) == 0, "stopped after %llu",
                  (unsigned long long)stop);
        free(state);
        lade_loader_destroy(l);
    }
    free(changed);
    lade_source_close(first);
    lade_source_close(source);
}

Test(loader_mixture, weights_do_not_change_out_of_step)
{
    static const uint32_t other[3] = {1, 4, 1};
    struct lade_source *first = mix(3, three, by, LADE_MIXTURE_DROP), *source = mix(3, three, other, LADE_MIXTURE_DROP);
    struct lade_loader_config config = {
        .source = first, .batch = 8, .in_order = true, .epochs = 2, .seed = 8, .threads = 2, .shards = 2};
    static uint64_t part[1000][2];
    struct lade_loader *l;
    struct lade_error error = {.text = ""};
    char *states[2], merged[4096];

    for (config.shard = 0; config.shard < 2; config.shard++) {
        l = open_loader(&config);
        cr_assert_gt(take_mixed(l, first, 1 + config.shard, part, 1000), 0);
        states[config.shard] = state_of(l);
        lade_loader_destroy(l);
    }
    config.shard = 0;
    config.source = source;
    cr_assert_eq(lade_loader_resume(&l, &config, states[0], &error), LADE_CONFLICT);
    cr_assert(strstr(error.text, "in step"), "%s", error.text);
    cr_assert_gt(lade_loader_merge_states((const char *const *)states, 2, merged, sizeof merged, NULL, &error), 0);
    cr_assert_eq(lade_loader_resume(&l, &config, merged, &error), LADE_CONFLICT);
    config.source = first; /* without a change it resumes */
    lade_loader_destroy(resume(&config, merged));
    free(states[0]);
    free(states[1]);
    lade_source_close(first);
    lade_source_close(source);
}

/* 10^6 batches of 64 sources and ten changes of weight. */
Test(loader_mixture, a_state_stays_below_1024_bytes, .timeout = 240)
{
    struct lade_random random;
    char *state = NULL;

    lade_random_init(&random, lade_key_make(22, 0, 1), 0);
    for (int step = 0; step < 11; step++) {
        uint64_t samples[MOST];
        uint32_t weight[MOST];
        for (unsigned s = 0; s < MOST; s++) {
            samples[s] = UINT64_C(100000000000);
            weight[s] = 8192 + (uint32_t)lade_random_below(&random, 8192);
        }
        struct lade_source *source = mix(MOST, samples, weight, LADE_MIXTURE_REPEAT);
        const struct lade_loader_config config = {.source = source,
                                                  .batch = 4,
                                                  .in_order = true,
                                                  .seed = 11,
                                                  .threads = 1,
                                                  .slots = 8,
                                                  .consumer_assists = true};
        struct lade_loader *l = state ? resume(&config, state) : open_loader(&config);
        struct lade_batch b;
        for (uint64_t i = 0; i < (step == 10 ? 1000 : 99900); i++) {
            b = next_of(l);
            lade_loader_release(l, &b);
        }
        free(state);
        state = state_of(l);
        cr_assert_lt(strlen(state), 1024, "%s", state);
        lade_loader_destroy(l);
        lade_source_close(source);
    }
    free(state);
}

static int fail_on_threes(void *context, uint64_t i)
{
    (void)context;
    return i % 3 == 0 ? LADE_IO : LADE_OK;
}

Test(loader_mixture, shares_and_faults_are_counted_for_each_source)
{
    struct lade_source *part[2] = {numbers(30), numbers_with(30, fail_on_threes, NULL)}, *source;
    const uint32_t weight[2] = {4, 2};
    const struct lade_source_mixture mixture = {
        .source = part, .weight = weight, .sources = 2, .end = LADE_MIXTURE_REPEAT, .owned = true};
    struct lade_loader_share share[3];

    cr_assert_eq(lade_source_open_mixture(&source, &mixture, NULL), LADE_OK);
    for (int fault = LADE_FAULT_SKIP; fault <= LADE_FAULT_SUBSTITUTE; fault++) {
        const struct lade_loader_config config = {
            .source = source, .batch = 9, .in_order = true, .epochs = 1, .threads = 2, .fault = (enum lade_fault)fault};
        struct lade_loader *l = open_loader(&config);
        struct lade_batch b;
        while (lade_loader_next(l, &b, LADE_FOREVER, NULL) == LADE_OK)
            lade_loader_release(l, &b);
        cr_assert_eq(lade_loader_shares(l, share, 3), 2);
        cr_assert_eq(lade_loader_shares(l, NULL, 0), 2);
        cr_assert(share[0].weight == 2 && share[1].weight == 1 && share[0].samples == 30);
        /* Source 1 comes once; source 0 twice, one sample more or less at the end. */
        cr_assert(share[0].delivered >= 58 && share[0].delivered <= 60, "%llu", (unsigned long long)share[0].delivered);
        cr_assert_eq(share[1].delivered, fault == LADE_FAULT_SKIP ? 20 : 30);
        cr_assert_eq(share[0].faults, 0);
        cr_assert_eq(share[1].faults, 10);
        cr_assert_lt(fabs(share[1].epochs - (double)share[1].delivered / 30), 1e-12);
        const uint64_t all = share[0].delivered + share[1].delivered;
        cr_assert_lt(fabs(share[1].share - (double)share[1].delivered / (double)all), 1e-12);
        cr_assert_lt(fabs(share[0].target - 2.0 / 3), 1e-12);
        lade_loader_destroy(l);
    }
    lade_source_close(source);
}

Test(loader_mixture, what_a_mixture_cannot_do_is_refused)
{
    struct lade_source *source = mix(3, three, by, LADE_MIXTURE_DROP);
    struct lade_split *split = fifths(1);
    const struct lade_loader_config configs[] = {
        {.source = source, .batch = 4, .split = split},
        {.source = source, .batch = 4, .draw = LADE_DRAW_BALANCED},
        {.source = source, .batch = 4, .buffer = 100},
    };
    struct lade_loader *l;
    struct lade_error error;

    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(lade_loader_create(&l, &configs[i], &error), LADE_INVALID);
        cr_assert(strstr(error.text, "a mixture takes neither"), "%s", error.text);
    }
    struct lade_loader *plain = open_loader(&(struct lade_loader_config){.source = source, .batch = 4});
    lade_loader_destroy(plain);
    lade_split_destroy(split);
    lade_source_close(source);
}

/* A state with a right checksum whose law restarted where nothing was delivered: all sources have ended there. */
Test(loader_mixture, a_state_without_what_came_before_a_restart_is_damaged)
{
    static const char *const words[] = {" from=9b:28,19,5a of=155 done=", " from=9b:28,19,5a of=155 done=0-155",
                                        " from=9b:28,19,5a of=155 done= level=1:0-154",
                                        " from=9b:28,19,5a of=155 done= level=2:0-155/0-155",
                                        " from=9b:28,19,5a of=155 done= level=1:0-155"};
    struct lade_source *source = mix(3, three, by, LADE_MIXTURE_DROP);
    const struct lade_loader_config config = {.source = source, .batch = 4, .threads = 1};
    struct lade_loader *l = open_loader(&config);
    char *own = state_of(l), text[512];
    struct lade_error error;

    lade_loader_destroy(l);
    *strstr(own, " of=") = '\0';
    for (unsigned i = 0; i < 5; i++) {
        int n = snprintf(text, sizeof text, "%s%s", own, words[i]);
        (void)snprintf(text + n, sizeof text - (size_t)n, " crc=%08x", (unsigned)lade_crc32c(0, text, (size_t)n));
        if (i < 4) {
            cr_assert_eq(lade_loader_resume(&l, &config, text, &error), LADE_DAMAGED, "%s", text);
            continue;
        }
        uint64_t got[160][2]; /* the epoch has ended, so the next one comes */
        l = resume(&config, text);
        cr_assert_eq(take_mixed(l, source, 39, got, 160), 155);
        lade_loader_destroy(l);
    }
    free(own);
    lade_source_close(source);
}

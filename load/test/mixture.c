/* SPDX-License-Identifier: MIT */
/* The law of mixtures, with exact arithmetic, and mixtures as sources. */
#include "loads.h"

#include "mixture.h"

#include <math.h>
#include <stdio.h>

enum { MOST = LADE_MIXTURE_SOURCES_MAX };

/* A mixture without data. */
static struct lade_mixture plain(unsigned sources, const uint64_t *samples, const uint32_t *weight,
                                 enum lade_mixture_end end)
{
    struct lade_mixture m = {.sources = sources, .end = end};

    for (unsigned i = 0; i < sources; i++) {
        m.weight[i] = weight[i];
        m.first[i + 1] = m.first[i] + samples[i];
    }
    cr_assert_leq(lade_mixture_reduce(m.weight, sources), LADE_MIXTURE_WEIGHT_MAX);
    return m;
}

/* Whether |dealt - t * weight / sum| < 1, in integers. */
static bool is_in_bound(uint64_t dealt, uint64_t t, uint64_t weight, uint64_t sum)
{
    const int64_t off = (int64_t)(dealt * sum) - (int64_t)(t * weight);

    return off < (int64_t)sum && -off < (int64_t)sum;
}

/* Weights of 2 to 64 sources, of very different sizes. Their sum. */
static uint32_t draw_weights(struct lade_random *random, unsigned *sources, uint32_t *weight)
{
    uint32_t sum = 0;

    *sources = 2 + (unsigned)lade_random_below(random, MOST - 1);
    for (unsigned i = 0; i < *sources; i++)
        sum += weight[i] = 1 + (uint32_t)lade_random_below(random, UINT64_C(1) << lade_random_below(random, 8));
    return sum;
}

/* Positions of the greedy rule, the largest deficit first, until the bound breaks, or all of them. */
static uint64_t greedy(unsigned sources, const uint32_t *weight, uint64_t sum, uint64_t positions)
{
    uint64_t dealt[MOST] = {0};

    for (uint64_t t = 1; t <= positions; t++) {
        unsigned best = 0;
        for (unsigned i = 1; i < sources; i++)
            if ((int64_t)(t * weight[i]) - (int64_t)(dealt[i] * sum) >
                (int64_t)(t * weight[best]) - (int64_t)(dealt[best] * sum))
                best = i;
        dealt[best]++;
        for (unsigned i = 0; i < sources; i++)
            if (!is_in_bound(dealt[i], t, weight[i], sum))
                return t;
    }
    return positions + 1;
}

Test(mixture, every_prefix_of_1000_random_mixtures_is_within_one_sample_and_greedy_is_not)
{
    struct lade_random random;
    unsigned broken = 0;

    lade_random_init(&random, lade_key_make(20, 0, 1), 0);
    for (int v = 0; v < 1000; v++) {
        uint32_t weight[MOST];
        uint64_t samples[MOST], dealt[MOST] = {0}, number;
        unsigned sources;
        draw_weights(&random, &sources, weight);
        for (unsigned i = 0; i < sources; i++)
            samples[i] = 1000000;
        struct lade_mixture m = plain(sources, samples, weight, LADE_MIXTURE_REPEAT);
        struct lade_mixture_law law;
        uint64_t sum = 0;
        cr_assert_eq(lade_mixture_law_init(&law, &m, m.weight, 0, NULL, NULL), LADE_OK);
        for (unsigned i = 0; i < sources; i++)
            sum += m.weight[i];
        for (uint64_t t = 1; t <= 2 * sum + 7; t++) {
            const unsigned s = lade_mixture_law_at(&law, t - 1, &number);
            cr_assert_lt(s, sources);
            cr_assert_eq(number, dealt[s]++, "vector %d: sample %llu of source %u at position %llu", v,
                         (unsigned long long)number, s, (unsigned long long)(t - 1));
            for (unsigned i = 0; i < sources; i++)
                cr_assert(is_in_bound(dealt[i], t, m.weight[i], sum),
                          "vector %d: source %u has %llu of %llu, weight %u of %llu", v, i,
                          (unsigned long long)dealt[i], (unsigned long long)t, m.weight[i], (unsigned long long)sum);
        }
        uint64_t taken[MOST] = {0};
        lade_mixture_law_taken(&law, sources, 2 * sum + 7, taken);
        cr_assert(memcmp(taken, dealt, sources * sizeof *taken) == 0);
        broken += greedy(sources, m.weight, sum, sum) <= sum;
        lade_mixture_law_free(&law, NULL);
    }
    cr_assert_gt(broken, 10, "the greedy rule breaks the bound in %u of 1000", broken);
}

/* What each source has at the end, and whether the epoch ends where its rule ends it. */
static void expect_end(const struct lade_mixture *m, uint64_t from, const uint64_t *before)
{
    struct lade_mixture_law law;
    uint64_t dealt[MOST] = {0}, number;

    if (before)
        memcpy(dealt, before, m->sources * sizeof *dealt);
    cr_assert_eq(lade_mixture_law_init(&law, m, m->weight, from, before, NULL), LADE_OK);
    for (uint64_t t = from; t < law.length; t++) {
        unsigned complete = 0;
        for (unsigned i = 0; i < m->sources; i++)
            complete += m->weight[i] == 0 || dealt[i] >= m->first[i + 1] - m->first[i];
        cr_assert(complete < m->sources, "it goes on after all sources have ended");
        const unsigned s = lade_mixture_law_at(&law, t, &number);
        cr_assert_eq(number, dealt[s]++);
        if (m->end != LADE_MIXTURE_REPEAT)
            cr_assert_leq(dealt[s], m->first[s + 1] - m->first[s]);
    }
    bool one_is_over = false, all_are_over = true;
    for (unsigned i = 0; i < m->sources; i++) {
        const bool is_over = m->weight[i] == 0 || dealt[i] >= m->first[i + 1] - m->first[i];
        one_is_over = one_is_over || (is_over && m->weight[i]);
        all_are_over = all_are_over && is_over;
    }
    cr_assert(m->end == LADE_MIXTURE_STOP ? one_is_over : all_are_over);
    if (m->end == LADE_MIXTURE_STOP) { /* not before: the next sample would be of a source without any */
        const struct lade_mixture_span *span = &law.span[law.spans - 1];
        const uint32_t unit = span->unit[(law.length - span->from) % span->period] % MOST;
        cr_assert_eq(dealt[unit], m->first[unit + 1] - m->first[unit]);
    }
    lade_mixture_law_free(&law, NULL);
}

Test(mixture, an_epoch_ends_as_each_rule_states)
{
    struct lade_random random;

    lade_random_init(&random, lade_key_make(21, 0, 1), 0);
    for (int v = 0; v < 300; v++) {
        uint32_t weight[MOST];
        uint64_t samples[MOST], before[MOST], from = 0;
        unsigned sources;
        draw_weights(&random, &sources, weight);
        if (v % 3 == 0)
            weight[0] = 0;
        for (unsigned i = 0; i < sources; i++) {
            samples[i] = 1 + lade_random_below(&random, 200);
            from += before[i] = lade_random_below(&random, samples[i]);
        }
        for (int end = LADE_MIXTURE_REPEAT; end <= LADE_MIXTURE_STOP; end++) {
            const struct lade_mixture m = plain(sources, samples, weight, (enum lade_mixture_end)end);
            expect_end(&m, 0, NULL);
            expect_end(&m, from, before);
        }
    }
}

Test(mixture, an_epoch_that_is_too_long_is_refused)
{
    const uint64_t samples[2] = {UINT64_C(1) << 60, 1};
    const uint32_t weight[2] = {1, 100};
    const struct lade_mixture m = plain(2, samples, weight, LADE_MIXTURE_REPEAT);
    struct lade_mixture_law law;

    cr_assert_eq(lade_mixture_law_init(&law, &m, m.weight, 0, NULL, NULL), LADE_LIMITED);
    lade_mixture_law_free(&law, NULL);
}

static void expect_refusal(struct lade_source *const *source, const uint32_t *weight, unsigned sources, const char *why)
{
    const struct lade_source_mixture config = {.source = source, .weight = weight, .sources = sources};
    struct lade_source *mixture = NULL;
    struct lade_error error = {.text = ""};

    cr_assert_eq(lade_source_open_mixture(&mixture, &config, &error), LADE_INVALID);
    cr_assert(strstr(error.text, why), "%s", error.text);
    cr_assert_null(mixture);
}

Test(mixture, sources_that_do_not_go_together_are_refused)
{
    const uint32_t one[2] = {1, 1}, none[2] = {0, 0}, large[2] = {1, 1 << 20};
    struct lade_source *a = open_source("synthetic:count=10,shape=4"), *b = open_source("synthetic:count=10,shape=5");
    struct lade_source *c = open_source("synthetic:count=endless,shape=4");
    struct lade_source *pair[2] = {a, b}, *endless[2] = {a, c}, *same[2] = {a, a}, *many[65] = {NULL};
    const struct lade_source_mixture config = {.source = same, .weight = one, .sources = 2};
    struct lade_source *mixture;

    expect_refusal(pair, one, 2, "source 1 has samples of another shape");
    expect_refusal(endless, one, 2, "endless");
    expect_refusal(same, none, 2, "all weights are 0");
    expect_refusal(same, large, 2, "2^20");
    expect_refusal(many, one, 65, "1 to 64");
    expect_refusal(same, one, 0, "1 to 64");
    cr_assert_eq(lade_source_open_mixture(&mixture, &config, NULL), LADE_OK);
    struct lade_source *nested[2] = {a, mixture};
    expect_refusal(nested, one, 2, "a mixture cannot be in a mixture");
    lade_source_close(mixture);
    lade_source_close(a);
    lade_source_close(b);
    lade_source_close(c);
}

Test(mixture, fields_are_compared_and_the_longest_length_counts)
{
    static const int32_t values[6] = {1, 2, 3, 4, 5, 6}, few[3] = {0, 1, 2}, more[3] = {0, 5, 6};
    struct lade_source_column column = {
        {.name = "tokens", .dtype = LADE_I32, .ragged_max = 1}, values, few, LADE_I32, 2};
    struct lade_source_arrays arrays = {.count = 2, .column = &column, .columns = 1};
    const uint32_t one[2] = {1, 1};
    struct lade_source *source[3], *mixture;
    uint64_t length;
    int32_t read[5];

    cr_assert_eq(lade_source_open_arrays(&source[0], &arrays, NULL), LADE_OK);
    column.offsets = more;
    column.steps = 6;
    cr_assert_eq(lade_source_open_arrays(&source[1], &arrays, NULL), LADE_OK);
    column.field.name = "words";
    cr_assert_eq(lade_source_open_arrays(&source[2], &arrays, NULL), LADE_OK);
    struct lade_source *wrong[2] = {source[0], source[2]};
    expect_refusal(wrong, one, 2, "field 0 ('words') of source 1");
    const struct lade_source_mixture config = {.source = source, .weight = one, .sources = 2};
    cr_assert_eq(lade_source_open_mixture(&mixture, &config, NULL), LADE_OK);
    cr_assert_eq(lade_source_schema(mixture)->field[0].ragged_max, 5);
    cr_assert_eq(lade_source_length(mixture, 2, 0, &length, NULL), LADE_OK);
    cr_assert_eq(length, 5);
    const struct lade_view view = {.data = read, .length = 5};
    cr_assert_eq(lade_source_read_fields(mixture, 2, &view, NULL), LADE_OK);
    cr_assert(memcmp(read, values, sizeof read) == 0);
    lade_source_close(mixture);
    for (int i = 0; i < 3; i++)
        lade_source_close(source[i]);
}

Test(mixture, a_sample_is_that_of_its_source)
{
    struct lade_source *source[3] = {open_source("synthetic:count=7,shape=4,seed=1"),
                                     open_source("synthetic:count=1,shape=4,seed=2"),
                                     open_source("synthetic:count=9,shape=4,seed=3")};
    const uint32_t weight[3] = {1, 2, 3};
    const struct lade_source_mixture config = {.source = source, .weight = weight, .sources = 3, .owned = true};
    struct lade_source *mixture;
    unsigned s;
    uint64_t i;

    cr_assert_eq(lade_source_open_mixture(&mixture, &config, NULL), LADE_OK);
    cr_assert_eq(lade_source_info(mixture)->count, 17);
    for (uint64_t id = 0, first = 0, own = 0; id < 17; id++) {
        uint8_t one[4], other[4];
        int64_t label, other_label;
        cr_assert_eq(lade_source_mixture_find(mixture, id, &s, &i), LADE_OK);
        const unsigned expected = id < 7 ? 0 : id < 8 ? 1 : 2;
        first = id < 7 ? 0 : id < 8 ? 7 : 8;
        own = id - first;
        cr_assert(s == expected && i == own);
        cr_assert_eq(lade_source_read(mixture, id, one, &label, NULL), LADE_OK);
        cr_assert_eq(lade_source_read(source[s], i, other, &other_label, NULL), LADE_OK);
        cr_assert(memcmp(one, other, 4) == 0 && label == other_label);
        cr_assert_eq(lade_source_label(mixture, id, &label, NULL), LADE_OK);
        cr_assert_eq(label, other_label);
        cr_assert_eq(lade_source_key(mixture, id), i);
    }
    cr_assert_eq(lade_source_mixture_find(mixture, 17, &s, &i), LADE_INVALID);
    cr_assert_eq(lade_source_mixture_find(source[0], 0, &s, &i), LADE_INVALID);
    lade_source_close(mixture); /* and the sources */
}

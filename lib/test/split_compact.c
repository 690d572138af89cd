/* SPDX-License-Identifier: MIT */
/* The filter and the bit arrays: parts are stable, shares are exact, and errors match the computed probabilities. */
#include "splits.h"

#include "../split.h"

#include <math.h>
#include <pthread.h>

static struct lade_split *compact(enum lade_split_store store, uint64_t capacity, bool uncorrected, uint32_t first,
                                  uint32_t second)
{
    const uint32_t weights[] = {first, second};

    return make((struct lade_split_config){.parts = 2,
                                           .weights = weights,
                                           .rule = LADE_SPLIT_COIN,
                                           .store = store,
                                           .capacity = capacity,
                                           .uncorrected = uncorrected,
                                           .seed = 11});
}

static const enum lade_split_store stores[] = {LADE_SPLIT_COMPACT, LADE_SPLIT_ARRAYS};

Test(split_compact, results_last)
{
    enum { N = 20000 };
    static unsigned char first[N];

    for (int i = 0; i < 2; i++) {
        struct lade_split *s = compact(stores[i], N, false, 3, 1);
        for (uint64_t k = 0; k < N; k++)
            first[k] = (unsigned char)part_of_word(s, k);
        for (uint64_t k = N; k-- > 0;)
            cr_assert_eq(part_of_word(s, k), first[k]);
        lade_split_destroy(s);
    }
}

/*
 * An item's part is independent of its position and its fingerprint: each of the 128 bits that these are made of equals
 * the part for half of the items. (Otherwise an item that is confused with another one would agree with it more often
 * than computed.)
 */
Test(split_compact, the_coin_is_apart_from_the_fingerprint)
{
    enum { N = 20000, BITS = 128, SIX_SIGMA = 425 };

    for (int i = 0; i < 2; i++) {
        struct lade_split *s = compact(stores[i], UINT64_C(8) * N, false, 1, 1);
        unsigned equal[BITS] = {0};
        for (uint64_t k = 0; k < N; k++) {
            struct lade_split_name name = {.high = k * UINT64_C(0x9e3779b97f4a7c15), .low = k};
            uint64_t bits[2];
            unsigned part = NONE;
            cr_assert_eq(lade_split_route_compact(s, &name, &part), LADE_OK);
            lade_split_random(&name, LADE_SPLIT_FOR_FILTER, 0, bits);
            for (unsigned bit = 0; bit < BITS; bit++)
                equal[bit] += (bits[bit / 64] >> bit % 64 & 1) == part;
        }
        for (unsigned bit = 0; bit < BITS; bit++)
            cr_assert(equal[bit] > N / 2 - SIX_SIGMA && equal[bit] < N / 2 + SIX_SIGMA, "bit %u: %u", bit, equal[bit]);
        lade_split_destroy(s);
    }
}

Test(split_compact, size_and_error_are_as_promised)
{
    enum { N = 200000 };
    struct lade_split *s = compact(LADE_SPLIT_COMPACT, N, false, 1, 1);

    for (uint64_t k = 0; k < N; k++)
        (void)part_of_word(s, k);
    struct lade_split_stats stats = stats_of(s);
    cr_assert((double)stats.bytes * 8 / N <= 12.51);
    cr_assert(stats.misassigned <= 0.015 && fabs(stats.misassigned - stats.collision / 2) < 0.001);
    cr_assert((double)(N - stats.entries) / N <= 0.015); /* on the average of all items */
    cr_assert(fabs(stats.share - 0.5) < 1e-9);
    lade_split_destroy(s);
    s = compact(LADE_SPLIT_ARRAYS, N, false, 1, 1);
    for (uint64_t k = 0; k < N; k++)
        (void)part_of_word(s, k);
    stats = stats_of(s);
    cr_assert((double)stats.bytes * 8 / N <= 100.01);
    cr_assert(stats.misassigned <= 0.015);
    lade_split_destroy(s);
}

/* New items are confused with others as often as stats predicts, and go to the predicted parts. */
static void check_prediction(enum lade_split_store store, bool uncorrected, uint64_t load)
{
    enum { CAPACITY = 100000, ASKED = 20000 };
    unsigned taken = 0, first = 0;

    struct lade_split *s = compact(store, CAPACITY, uncorrected, 3, 2);
    for (uint64_t k = 0; k < load; k++)
        (void)part_of_word(s, k);
    struct lade_split_stats before = stats_of(s);
    for (uint64_t k = 0; k < ASKED; k++)
        first += part_of_word(s, UINT64_C(1) << 40 | k) == 0;
    struct lade_split_stats after = stats_of(s);
    taken = (unsigned)(ASKED - (after.entries - before.entries));
    double collision = (before.collision + after.collision) / 2, share = (before.share + after.share) / 2;
    cr_assert(fabs(taken - ASKED * collision) < 6 * sqrt(ASKED * collision) + 1);
    cr_assert(fabs(first - ASKED * share) < 6 * sqrt(ASKED * share * (1 - share)));
    cr_assert(uncorrected || fabs(share - 0.6) < 1e-6);
    lade_split_destroy(s);
}

Test(split_compact, errors_are_those_that_were_computed)
{
    for (int i = 0; i < 2; i++) {
        for (int uncorrected = 0; uncorrected < 2; uncorrected++) {
            check_prediction(stores[i], uncorrected, 10000);
            check_prediction(stores[i], uncorrected, 80000);
        }
    }
}

/* The marked parts of the arrays B and C, counted. */
static void count_marks(const struct lade_split *s, double marked[2])
{
    marked[0] = marked[1] = 0;
    for (uint64_t i = 0; i < s->words; i++)
        for (unsigned bit = 0; bit < 64; bit++)
            marked[bit / 32] += (double)(s->word[i] >> bit & 1) / 32 / (double)s->words;
}

/*
 * Fills the arrays of Lin 2026 to 2 bits per item. Returns the share of new items that go to part 0, and stores the
 * predicted share.
 */
static double realised_share(bool uncorrected, double *theory)
{
    enum { N = 200000, ASKED = 40000 };
    const double alpha = 0.5;
    struct lade_split *s = make((struct lade_split_config){.parts = 2,
                                                           .rule = LADE_SPLIT_COIN,
                                                           .store = LADE_SPLIT_ARRAYS,
                                                           .capacity = N,
                                                           .bits_per_item = 2,
                                                           .uncorrected = uncorrected,
                                                           .seed = 3});
    double marked[2], first = 0;

    *theory = 0;
    for (uint64_t k = 0; k <= N + ASKED; k++) {
        if (k == N || k == N + ASKED) { /* what happens in between is in the middle */
            count_marks(s, marked);
            *theory += (marked[0] + (1 - marked[0]) * (1 - marked[1]) * alpha) / 2;
        }
        unsigned part = part_of_word(s, k);
        first += k >= N && k < N + ASKED && part == 0;
    }
    lade_split_destroy(s);
    return first / ASKED;
}

/*
 * With an index for each array, as analysed in Lin 2026, an item of C is found in B once another item has set its bit
 * there.
 */
Test(split_compact, the_published_results_change)
{
    enum { N = 20000 };
    static unsigned char first[N];
    unsigned moved = 0;

    struct lade_split *s = compact(LADE_SPLIT_ARRAYS, N, true, 1, 1);
    for (uint64_t k = 0; k < N; k++)
        first[k] = (unsigned char)part_of_word(s, k);
    for (uint64_t k = 0; k < N; k++) {
        unsigned part = part_of_word(s, k);
        cr_assert(part == 0 || first[k] == 1);
        moved += part != first[k];
    }
    /*
     * B is marked to 1/100 at the end. Since an item arrived, it grew by half of that on average, and half of the items
     * are in C: 1/400.
     */
    cr_assert(moved > 15 && moved < 90, "%u", moved);
    lade_split_destroy(s);
}

/* p_b + (1 - p_b)(1 - p_c) alpha, not alpha; with the correction alpha. 0.015 is six deviations. */
Test(split_compact, the_published_share_is_off_as_theory_predicts)
{
    double theory, with, without = realised_share(true, &theory);

    cr_assert(fabs(without - theory) < 0.015, "realised %.4f, theory %.4f", without, theory);
    cr_assert(theory > 0.5 + 2 * 0.015, "theory %.4f", theory);
    with = realised_share(false, &theory);
    cr_assert(fabs(with - 0.5) < 0.015, "realised %.4f", with);
}

/* Also items whose step would give a short cycle if the number of words had divisors. */
Test(split_compact, a_slot_is_found_when_there_is_one)
{
    enum { CAPACITY = 60 }; /* 12 words before rounding to a prime */
    unsigned part, refused = 0;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct lade_split *s = make((struct lade_split_config){
            .parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = CAPACITY, .seed = seed});
        for (uint64_t k = 0; k < CAPACITY; k++)
            refused += lade_split_route_word(s, k, &part) != LADE_OK;
        lade_split_destroy(s);
    }
    cr_assert_eq(refused, 0, "%u", refused);
}

Test(split_compact, full_is_returned)
{
    struct lade_split *s = compact(LADE_SPLIT_COMPACT, 1, false, 1, 1);
    unsigned part, taken = 0;
    uint64_t k = 0;

    for (; lade_split_route_word(s, k, &part) == LADE_OK; k++)
        taken += part < 2;
    cr_assert(part == NONE && taken == k && stats_of(s).entries == 6 && k >= 6);
    for (uint64_t i = 0; i < k; i++)
        (void)part_of_word(s, i);
    lade_split_destroy(s);
}

Test(split_compact, a_part_of_weight_zero_gets_nothing)
{
    for (int i = 0; i < 2; i++) {
        for (int uncorrected = 0; uncorrected < 2; uncorrected++) {
            struct lade_split *a = compact(stores[i], 1000, uncorrected, 7, 0);
            struct lade_split *b = compact(stores[i], 1000, uncorrected, 0, 7);
            for (uint64_t k = 0; k < 1000; k++)
                cr_assert(part_of_word(a, k) == 0 && part_of_word(b, k) == 1);
            lade_split_destroy(a);
            lade_split_destroy(b);
        }
    }
}

Test(split_compact, other_arguments)
{
    struct lade_split *s = NULL;
    struct lade_split_config good = {.parts = 2, .rule = LADE_SPLIT_COIN, .store = LADE_SPLIT_COMPACT, .capacity = 10},
                             bad;
    struct lade_split_found found;
    struct lade_split_item i = item("a", NULL, NULL);

    cr_assert(BAD(capacity, 0) && BAD(capacity, UINT64_MAX) && BAD(parts, 3) && BAD(rule, LADE_SPLIT_HASH));
    cr_assert(BAD(bits_per_item, 100) && BAD(content, LADE_SPLIT_DROP) && BAD(conflict, LADE_SPLIT_GROUP_WINS));
    good.store = LADE_SPLIT_ARRAYS;
    cr_assert(BAD(bits_per_item, 1) && BAD(bits_per_item, 1025));
    s = make(good);
    cr_assert_eq(route(s, "a", "g", "c"), LADE_INVALID);
    cr_assert_eq(lade_split_pin(s, &i, 0), LADE_INVALID);
    cr_assert_eq(lade_split_find(s, &i, &found), LADE_INVALID);
    lade_split_destroy(s);
}

struct racer {
    struct lade_split *s;
    unsigned char part[5000];
};

static void *race(void *context)
{
    struct racer *r = context;

    for (uint64_t k = 0; k < sizeof r->part; k++)
        r->part[k] = (unsigned char)part_of_word(r->s, k);
    return NULL;
}

Test(split_compact, threads_agree)
{
    for (int i = 0; i < 2; i++) {
        static struct racer a, b;
        pthread_t thread;
        a.s = b.s = compact(stores[i], 5000, false, 2, 1);
        cr_assert_eq(pthread_create(&thread, NULL, race, &a), 0);
        race(&b);
        pthread_join(thread, NULL);
        cr_assert_arr_eq(a.part, b.part, sizeof a.part);
        lade_split_destroy(a.s);
    }
}

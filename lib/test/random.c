/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lade/random.h>
#include <stdlib.h>
#include <string.h>

/* From random_multiply.c, which is compiled as for a machine without 128-bit integers. */
uint64_t multiply_portably(uint64_t a, uint64_t b, uint64_t *low);

static struct lade_key key(uint64_t seed)
{
    return lade_key_make(seed, 0, 0);
}

/* The test vectors that Salmon et al. publish with Random123 (philox 4 32 10). */
Test(philox, known_values)
{
    static const uint32_t vector[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
         0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };

    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        lade_philox(vector[i], vector[i] + 4, out);
        cr_assert_arr_eq(out, vector[i] + 6, sizeof out, "vector %d", i);
    }
}

Test(key, no_two_of_seed_epoch_and_purpose_can_be_swapped)
{
    struct lade_key seen[27];
    int n = 0;

    for (uint64_t seed = 0; seed < 3; seed++)
        for (uint64_t epoch = 0; epoch < 3; epoch++)
            for (uint64_t purpose = 0; purpose < 3; purpose++) {
                seen[n] = lade_key_make(seed, epoch, purpose);
                for (int i = 0; i < n; i++)
                    cr_assert(memcmp(&seen[i], &seen[n], sizeof *seen) != 0, "keys %d and %d are equal", i, n);
                n++;
            }
}

/*
 * A release must not change what a key gives: saved states and reproduced runs depend on it. The golden values of this
 * file were computed by an independent implementation (in Python, from the description in random.h).
 */
Test(key, golden)
{
    struct lade_key k = lade_key_make(1, 2, 3);

    cr_assert_eq(k.word[0], UINT32_C(0x402fa1a1));
    cr_assert_eq(k.word[1], UINT32_C(0x6c01224d));
    cr_assert_eq(lade_random_at(k, 4, 5), UINT64_C(0x51dccc4e8decb959));
}

Test(random, stream_is_a_pure_function_of_key_id_and_position)
{
    struct lade_random random;

    for (uint64_t id = 0; id < 3; id++) {
        lade_random_init(&random, key(9), id << 40 | id);
        for (uint64_t i = 0; i < 1000; i++)
            cr_assert_eq(lade_random_word(&random), lade_random_at(key(9), id << 40 | id, i));
    }
}

Test(random, first_words_are_the_philox_block_at_counter_zero)
{
    struct lade_key k = key(9);
    uint32_t counter[4] = {0, 0, 7, 1}, out[4];

    lade_philox(counter, k.word, out);
    cr_assert_eq(lade_random_at(k, UINT64_C(1) << 32 | 7, 0), (uint64_t)out[1] << 32 | out[0]);
    cr_assert_eq(lade_random_at(k, UINT64_C(1) << 32 | 7, 1), (uint64_t)out[3] << 32 | out[2]);
}

Test(random, seek_goes_anywhere_also_past_32_bits)
{
    static const uint64_t positions[] = {0, 1, 2, 63, 64, 65, UINT64_C(0x1ffffffff), UINT64_C(0x1fffffff0), 12345};
    struct lade_random random;

    lade_random_init(&random, key(3), 1);
    for (size_t p = 0; p < sizeof positions / sizeof *positions; p++) {
        lade_random_seek(&random, positions[p]);
        for (uint64_t i = 0; i < 200; i++)
            cr_assert_eq(lade_random_word(&random), lade_random_at(key(3), 1, positions[p] + i));
    }
}

Test(random, below_stays_below)
{
    struct lade_random random;
    static const uint64_t bounds[] = {1, 2, 3, 10, 1000, UINT64_C(3) << 62, UINT64_MAX};

    lade_random_init(&random, key(5), 0);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (int i = 0; i < 1000; i++)
            cr_assert_lt(lade_random_below(&random, bounds[b]), bounds[b]);
}

Test(random, below_zero_means_every_word)
{
    struct lade_random random;

    lade_random_init(&random, key(5), 0);
    for (uint64_t i = 0; i < 100; i++)
        cr_assert_eq(lade_random_below(&random, 0), lade_random_at(key(5), 0, i));
}

/* n = 3 * 2^62: of four equal parts of the words one is rejected, so that three results get one part each. */
Test(random, below_rejects_what_would_be_unfair)
{
    struct lade_random random;
    uint64_t used;

    lade_random_init(&random, key(8), 0);
    for (int i = 0; i < 4000; i++)
        lade_random_below(&random, UINT64_C(3) << 62);
    used = random.position - LADE_RANDOM_BUFFER + random.next;
    /* 4000 successes at 3/4: 5333 words expected, standard deviation 42; 10 of them on either side. */
    cr_assert(used > 4913 && used < 5753, "%llu words used", (unsigned long long)used);
}

Test(random, portable_multiplication_agrees)
{
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t a = lade_random_at(key(6), 0, 2 * i) >> (i % 64), b = lade_random_at(key(6), 0, 2 * i + 1);
        uint64_t low, low_portable;
        uint64_t high = lade_multiply(a, b, &low);
        cr_assert_eq(high, multiply_portably(a, b, &low_portable));
        cr_assert_eq(low, low_portable);
    }
}

Test(permutation, many_are_those_one_by_one)
{
    static const uint64_t sizes[] = {1, 7, 256, 257, 1000, 4099, 1000003};
    uint64_t many[100];

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        struct lade_permutation p;
        uint64_t n = sizes[k], count = n < 100 ? n : 100;
        cr_assert_eq(lade_permutation_init(&p, lade_key_make(k, 0, 1), n), LADE_OK);
        for (uint64_t size = 0; size <= count; size++) {
            const uint64_t first[] = {0, (n - size) / 2, n - size};
            for (int f = 0; f < 3; f++) {
                lade_permutation_many(&p, first[f], size, many);
                for (uint64_t i = 0; i < size; i++)
                    cr_assert_eq(many[i], lade_permutation_at(&p, first[f] + i));
            }
        }
    }
}

/* From all rounds in the table to none. */
Test(permutation, a_table_changes_nothing)
{
    static const uint64_t sizes[] = {1, 256, 257, 65536, 1048576, 1048577, 10000000, 16777217, 67108864, 67108865};
    static const int rounds[] = {0, 0, 8, 8, 8, 6, 2, 0, 0, 0};
    static struct lade_permutation_table table;
    uint64_t many[200];

    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct lade_permutation p;
            uint64_t n = sizes[k], count = n < 200 ? n : 200;
            cr_assert_eq(lade_permutation_init(&p, lade_key_make(seed, k, 1), n), LADE_OK);
            memset(&table, 0xff, sizeof table);
            lade_permutation_tabulate(&p, &table);
            cr_assert_eq(table.rounds, rounds[k], "%d rounds of %d elements", table.rounds, (int)n);
            const uint64_t first[] = {0, (n - count) / 2, n - count};
            for (int f = 0; f < 3; f++) {
                lade_permutation_walk(&p, &table, first[f], count, many);
                for (uint64_t i = 0; i < count; i++)
                    cr_assert_eq(many[i], lade_permutation_at(&p, first[f] + i));
            }
        }
}

Test(permutation, refuses_bad_sizes)
{
    struct lade_permutation p;

    cr_assert_eq(lade_permutation_init(&p, key(0), 0), LADE_INVALID);
    cr_assert_eq(lade_permutation_init(&p, key(0), LADE_PERMUTATION_MAX + 1), LADE_INVALID);
    cr_assert_eq(lade_permutation_init(&p, key(0), 10), LADE_OK);
    cr_assert_eq(lade_permutation_at(&p, 10), UINT64_MAX);
    cr_assert_eq(lade_permutation_find(&p, 10), UINT64_MAX);
}

Test(permutation, is_a_bijection_for_every_n_up_to_4096)
{
    static unsigned char seen[4096];

    for (uint64_t n = 1; n <= 4096; n++) {
        struct lade_permutation p;
        cr_assert_eq(lade_permutation_init(&p, key(n), n), LADE_OK);
        memset(seen, 0, sizeof seen);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t x = lade_permutation_at(&p, i);
            cr_assert_lt(x, n);
            cr_assert_eq(seen[x], 0, "n = %d: %d twice", (int)n, (int)x);
            seen[x] = 1;
            cr_assert_eq(lade_permutation_find(&p, x), i);
        }
    }
}

Test(permutation, of_a_billion_and_more_goes_there_and_back)
{
    static const uint64_t sizes[] = {1000000000,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 1,
                                     UINT64_C(999999999999989),
                                     LADE_PERMUTATION_MAX - 1,
                                     LADE_PERMUTATION_MAX};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct lade_permutation p;
        struct lade_random random;
        cr_assert_eq(lade_permutation_init(&p, key(s), sizes[s]), LADE_OK);
        lade_random_init(&random, key(77), s);
        for (int i = 0; i < 100000; i++) {
            uint64_t at = lade_random_below(&random, sizes[s]);
            uint64_t x = lade_permutation_at(&p, at);
            cr_assert_lt(x, sizes[s]);
            cr_assert_eq(lade_permutation_find(&p, x), at);
        }
        cr_assert_eq(lade_permutation_find(&p, lade_permutation_at(&p, sizes[s] - 1)), sizes[s] - 1);
        cr_assert_eq(lade_permutation_find(&p, lade_permutation_at(&p, 0)), 0);
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Sampling without the inverse: a million distinct positions of a billion must give a million distinct elements. */
Test(permutation, of_a_billion_has_no_collision_among_a_million)
{
    enum { SAMPLES = 1000000 };
    struct lade_permutation p;
    uint64_t *x = malloc(SAMPLES * sizeof *x);

    cr_assert_not_null(x);
    cr_assert_eq(lade_permutation_init(&p, key(1), 1000000000), LADE_OK);
    for (uint64_t i = 0; i < SAMPLES; i++)
        x[i] = lade_permutation_at(&p, i * 997);
    qsort(x, SAMPLES, sizeof *x, by_value);
    for (int i = 1; i < SAMPLES; i++)
        cr_assert_neq(x[i - 1], x[i]);
    free(x);
}

Test(permutation, golden)
{
    struct lade_permutation small, large;

    cr_assert_eq(lade_permutation_init(&small, lade_key_make(1, 2, 3), 10), LADE_OK);
    cr_assert_eq(lade_permutation_init(&large, lade_key_make(1, 2, 3), 50000), LADE_OK);
    for (uint64_t i = 0; i < 5; i++) {
        static const uint64_t small_golden[] = {5, 0, 9, 7, 8}, large_golden[] = {26329, 1282, 40596, 39135, 1934};
        cr_assert_eq(lade_permutation_at(&small, i), small_golden[i]);
        cr_assert_eq(lade_permutation_at(&large, i), large_golden[i]);
    }
}

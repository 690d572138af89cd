/* SPDX-License-Identifier: MIT */
/*
 * The generator and its bounded integers: frequencies, bits, pairs. Assumptions, false alarms and power of each test:
 * chi.h. A version with a known fault must fail the same test.
 */
#include "check.h"
#include "chi.h"

#include <lade/random.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum purpose { BELOW = 1, BITS, PAIRS, STREAMS, CONTROL };

static struct lade_random stream(enum purpose purpose, uint64_t id)
{
    struct lade_random random;

    lade_random_init(&random, lade_key_make(check_seed(), 0, purpose), id);
    return random;
}

/* Ways to get a number below n. */
typedef uint64_t draw(struct lade_random *random, uint64_t n);

static uint64_t by_library(struct lade_random *random, uint64_t n)
{
    return lade_random_below(random, n);
}

static uint64_t by_modulo(struct lade_random *random, uint64_t n)
{
    return lade_random_word(random) % n;
}

static uint64_t by_product(struct lade_random *random, uint64_t n)
{
    uint64_t low;

    return lade_multiply(lade_random_word(random), n, &low); /* without the rejection */
}

static uint64_t by_modulo_8(struct lade_random *random, uint64_t n)
{
    return (lade_random_word(random) & 0xff) % n;
}

static uint64_t by_modulo_12(struct lade_random *random, uint64_t n)
{
    return (lade_random_word(random) & 0xfff) % n;
}

/* The same words of 12 bits, with the last incomplete run of n left out: fair. */
static uint64_t by_rejection_12(struct lade_random *random, uint64_t n)
{
    uint64_t word;

    do
        word = lade_random_word(random) & 0xfff;
    while (word >= 4096 / n * n);
    return word % n;
}

/* A sampler that reaches 17 items only. */
static uint64_t by_seventeen(struct lade_random *random, uint64_t n)
{
    return lade_random_below(random, 17) * n / 17;
}

/* One after the other: too even to be random. */
static uint64_t by_turns(struct lade_random *random, uint64_t n)
{
    (void)random;
    static uint64_t turn;
    return turn++ % n;
}

/* Each value is a cell. */
static struct chi_result each_value(draw *from, uint64_t n, uint64_t draws)
{
    struct lade_random random = stream(BELOW, n);
    uint64_t *count = check_memory((size_t)n, sizeof *count), outside = 0;

    for (uint64_t i = 0; i < draws; i++) {
        uint64_t value = from(&random, n);
        if (value < n)
            count[value]++;
        else
            outside++;
    }
    struct chi_result r = chi_test(count, NULL, (size_t)n);
    r.fails = r.fails || outside > 0;
    free(count);
    return r;
}

/* For large n: the range in equal parts (the last one may be smaller), or the remainder by the number of cells. */
static struct chi_result in_cells(draw *from, uint64_t n, unsigned cells, bool remainder, uint64_t draws)
{
    struct lade_random random = stream(BELOW, n);
    uint64_t *count = check_memory(cells, sizeof *count), outside = 0, width = n / cells + (n % cells != 0);
    double *weight = check_memory(cells, sizeof *weight);

    for (unsigned i = 0; i < cells; i++)
        weight[i] = remainder ? (double)(n / cells + (i < n % cells))
                              : (double)(i + 1 < cells ? width : n - width * (cells - 1));
    for (uint64_t i = 0; i < draws; i++) {
        uint64_t value = from(&random, n);
        if (value < n)
            count[remainder ? value % cells : value / width]++;
        else
            outside++;
    }
    struct chi_result r = chi_test(count, weight, cells);
    r.fails = r.fails || outside > 0;
    free(count);
    free(weight);
    return r;
}

static void below(void)
{
    static const uint64_t small[] = {2, 3, 5, 7, 10, 17, 64, 100, 1000};
    static const uint64_t large[] = {
        UINT64_C(3) << 62, (UINT64_C(3) << 62) + 1, (UINT64_C(1) << 63) + 1, UINT64_C(10000000000000000000),
        UINT64_MAX,        (UINT64_C(1) << 32) + 15};
    uint64_t draws = check_full() ? 20000000 : 1000000;
    char text[80];

    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        (void)snprintf(text, sizeof text, "n = %llu", (unsigned long long)small[i]);
        chi_expect(each_value(by_library, small[i], draws), "lade_random_below", text);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        (void)snprintf(text, sizeof text, "n = %llu, 96 parts of the range", (unsigned long long)large[i]);
        chi_expect(in_cells(by_library, large[i], 96, false, draws), "lade_random_below", text);
        (void)snprintf(text, sizeof text, "n = %llu, remainder by 3", (unsigned long long)large[i]);
        chi_expect(in_cells(by_library, large[i], 3, true, draws), "lade_random_below", text);
    }
    chi_expect(each_value(by_rejection_12, 1000, draws), "12-bit words", "n = 1000, with rejection");
    chi_expect_failure(in_cells(by_modulo, large[0], 96, false, draws), "modulo", "n = 3 * 2^62");
    chi_expect_failure(in_cells(by_modulo, large[1], 96, false, draws), "modulo", "n = 3 * 2^62 + 1");
    chi_expect_failure(in_cells(by_modulo, large[3], 96, false, draws), "modulo", "n = 10^19");
    chi_expect_failure(in_cells(by_product, large[0], 3, true, draws), "product without rejection",
                       "n = 3 * 2^62, remainder by 3");
    chi_expect_failure(each_value(by_modulo_8, 100, draws), "8-bit words, modulo", "n = 100");
    chi_expect_failure(each_value(by_modulo_12, 1000, draws), "12-bit words, modulo", "n = 1000");
    chi_expect_failure(each_value(by_seventeen, 100, draws), "17 of 100 items", "n = 100");
    chi_expect_failure(each_value(by_turns, 100, draws), "in turn", "n = 100, too even");
}

/* Sources of words. */
typedef uint64_t words(void *state);

static uint64_t from_library(void *state)
{
    return lade_random_word(state);
}

/* Bit 7 is set with probability 0.51. */
static uint64_t from_heavy_bit(void *state)
{
    uint64_t word = lade_random_word(state);

    return lade_random_below(state, 50) == 0 ? word | 128 : word;
}

/* A linear congruential generator modulo 2^64: its low bits repeat soon. */
static uint64_t from_congruence(void *state)
{
    uint64_t *x = state;

    return *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* Multiples of one number: each word is even in the long run, the next one follows from it. */
static uint64_t from_multiples(void *state)
{
    uint64_t *x = state;

    return *x += UINT64_C(0x9E3779B97F4A7C15);
}

/* Null: 64 independent fair bits a word. The statistic adds the squares of 64 standardised counts: 64 degrees of freedom. */
static struct chi_result bits(words *next, void *state, uint64_t draws)
{
    uint64_t ones[64] = {0};
    double statistic = 0;

    for (uint64_t i = 0; i < draws; i++) {
        uint64_t word = next(state);
        for (unsigned bit = 0; bit < 64; bit++)
            ones[bit] += word >> bit & 1;
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        double off = (double)ones[bit] - (double)draws / 2;
        statistic += off * off / ((double)draws / 4);
    }
    return chi_judge(statistic, 64, draws * 64);
}

/* Null: the two words of a pair are independent and uniform; five bits of each make 1024 cells. */
static void add_pair(uint64_t count[1024], uint64_t a, uint64_t b, unsigned shift)
{
    count[(a >> shift & 31) * 32 + (b >> shift & 31)]++;
}

static struct chi_result pairs(words *next, void *state, unsigned shift, uint64_t draws)
{
    uint64_t count[1024] = {0};

    for (uint64_t i = 0; i < draws; i++) {
        uint64_t first = next(state);
        add_pair(count, first, next(state), shift);
    }
    return chi_test(count, NULL, 1024);
}

static void generator(void)
{
    uint64_t draws = check_full() ? 40000000 : 2000000, x = check_seed();
    static const unsigned shift[] = {0, 27, 32, 59};
    struct lade_random random = stream(BITS, 0);
    char text[80];

    chi_expect(bits(from_library, &random, draws), "bits", "64 bits of a word");
    chi_expect_failure(bits(from_heavy_bit, &random, draws), "bits", "one bit set with probability 0.51");
    for (size_t i = 0; i < sizeof shift / sizeof *shift; i++) {
        random = stream(PAIRS, i);
        (void)snprintf(text, sizeof text, "both words of a block, bits %u to %u", shift[i], shift[i] + 4);
        chi_expect(pairs(from_library, &random, shift[i], draws), "pairs", text);
        lade_random_seek(&random, 1);
        (void)snprintf(text, sizeof text, "words of two blocks, bits %u to %u", shift[i], shift[i] + 4);
        chi_expect(pairs(from_library, &random, shift[i], draws), "pairs", text);
    }
    chi_expect_failure(pairs(from_congruence, &x, 0, draws), "pairs", "low bits of a congruential generator");
    chi_expect_failure(pairs(from_multiples, &x, 59, draws), "pairs", "multiples of one number");
}

/* First words of neighbouring streams: those whose ids, epochs, seeds or purposes follow each other. */
enum neighbour { NEXT_ID, NEXT_EPOCH, NEXT_SEED, NEXT_PURPOSE, SWAPPED, NEIGHBOURS };

static uint64_t first_word(uint64_t seed, uint64_t epoch, uint64_t purpose, uint64_t id)
{
    return lade_random_at(lade_key_make(seed, epoch, purpose), id, 0);
}

static uint64_t neighbour_word(enum neighbour kind, uint64_t base, uint64_t i, unsigned which)
{
    switch (kind) {
    case NEXT_ID:
        return first_word(base, 0, STREAMS, 2 * i + which);
    case NEXT_EPOCH:
        return first_word(base, 2 * i + which, STREAMS, 0);
    case NEXT_SEED:
        return first_word(base + 2 * i + which, 0, STREAMS, 0);
    case NEXT_PURPOSE:
        return first_word(base, 0, STREAMS + 2 * i + which, 0);
    default: /* seed and epoch trade places */
        return which ? first_word(base + i, base - i, STREAMS, 0) : first_word(base - i, base + i, STREAMS, 0);
    }
}

/* The faulty version: seed and epoch are added. */
static uint64_t added_word(uint64_t seed, uint64_t epoch)
{
    return first_word(seed + epoch, 0, STREAMS, 0);
}

static void neighbours(void)
{
    static const char *const name[] = {"next id", "next epoch", "next seed", "next purpose", "seed and epoch swapped"};
    uint64_t draws = check_full() ? 5000000 : 500000, base = check_seed();

    for (unsigned kind = 0; kind < NEIGHBOURS; kind++) {
        uint64_t count[1024] = {0}, ones[64] = {0};
        double statistic = 0;
        for (uint64_t i = 1; i <= draws; i++) {
            uint64_t a = neighbour_word((enum neighbour)kind, base, i, 0),
                     b = neighbour_word((enum neighbour)kind, base, i, 1);
            add_pair(count, a, b, 59);
            for (unsigned bit = 0; bit < 64; bit++)
                ones[bit] += (a ^ b) >> bit & 1;
        }
        for (unsigned bit = 0; bit < 64; bit++) {
            double off = (double)ones[bit] - (double)draws / 2;
            statistic += off * off / ((double)draws / 4);
        }
        chi_expect(chi_test(count, NULL, 1024), name[kind], "pairs of first words");
        chi_expect(chi_judge(statistic, 64, draws * 64), name[kind], "bits in which first words differ");
    }
    uint64_t count[1024] = {0};
    for (uint64_t i = 1; i <= draws; i++)
        add_pair(count, added_word(base + i, base - i), added_word(base - i, base + i), 59);
    chi_expect_failure(chi_test(count, NULL, 1024), "seed and epoch swapped", "when they are added");
    check(first_word(0, 1, STREAMS, 0) != first_word(1, 0, STREAMS, 0) && added_word(0, 1) == added_word(1, 0),
          "seed 0 epoch 1", "differs from seed 1 epoch 0; where they are added it does not");
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    below();
    generator();
    neighbours();
    chi_budget();
    return check_end();
}

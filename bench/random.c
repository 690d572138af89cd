/* SPDX-License-Identifier: MIT */
/*
 * The measuring program of the generators: PROGRAM CANDIDATE SECONDS [DRAWS]
 * Prints draws, seconds of processor time, and the share of the wall time in which it had a core.
 */
#include "clock.h"

#include <lade/random.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lade_random source;
static struct lade_key key;
static struct lade_permutation small, large;
static uint64_t state[4];

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

/* xoshiro256** after Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021. */
static inline uint64_t xoshiro(uint64_t s[4])
{
    uint64_t out = rotate(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return out;
}

/* A loop for each candidate, so that what can be inlined is. */
#define LOOP(name, expression)                                                                                         \
    static uint64_t name(uint64_t draws)                                                                               \
    {                                                                                                                  \
        uint64_t sum = 0;                                                                                              \
        for (uint64_t i = 0; i < draws; i++)                                                                           \
            sum += (expression);                                                                                       \
        return sum;                                                                                                    \
    }

LOOP(word, lade_random_word(&source))
LOOP(below, lade_random_below(&source, 50000))
LOOP(at, lade_random_at(key, 7, i))
LOOP(permutation_small, lade_permutation_at(&small, i % 256))
LOOP(permutation_large, lade_permutation_at(&large, i % 50000))
LOOP(xoshiro_word, xoshiro(state))
LOOP(rand_word, (uint64_t)rand())

static const struct {
    const char *name;
    uint64_t (*loop)(uint64_t draws);
} candidate[] = {
    {"lade_random_word", word},
    {"lade_random_below", below},
    {"lade_random_at", at},
    {"lade_permutation_at_256", permutation_small},
    {"lade_permutation_at_50000", permutation_large},
    {"xoshiro256**", xoshiro_word},
    {"rand", rand_word},
};

static volatile uint64_t sink;

int main(int argc, char **argv)
{
    size_t which = 0;
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 0;
    uint64_t draws = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    double used;
    double took;

    while (argc > 1 && which < sizeof candidate / sizeof *candidate && strcmp(argv[1], candidate[which].name) != 0)
        which++;
    if (argc < 3 || argc > 4 || which == sizeof candidate / sizeof *candidate) {
        fprintf(stderr, "usage: %s CANDIDATE SECONDS [DRAWS]\n", argv[0]);
        return 2;
    }
    fuse();
    key = lade_key_make(1, 2, 3);
    lade_random_init(&source, key, 1);
    for (int i = 0; i < 4; i++)
        state[i] = lade_random_at(key, 2, (uint64_t)i);
    if (lade_permutation_init(&small, key, 256) != LADE_OK || lade_permutation_init(&large, key, 50000) != LADE_OK)
        return 3;
    pin(0);
    if (draws == 0) {
        draws = 1024;
        do {
            draws *= 4;
            took = -clock_now();
            sink = candidate[which].loop(draws);
            took += clock_now();
        } while (took < seconds / 4);
        draws = (uint64_t)((double)draws * seconds / took);
    }
    used = -clock_used();
    took = -clock_now();
    sink = candidate[which].loop(draws);
    took += clock_now();
    used += clock_used();
    printf("%llu %.6f %.3f\n", (unsigned long long)draws, used, used / took);
    return 0;
}

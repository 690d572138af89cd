/* SPDX-License-Identifier: MIT */
/* Keys, and the mixer that every candidate uses whose hash can be chosen. In C and C++. */
#ifndef LADE_BENCH_TABLE_KEYS_H
#define LADE_BENCH_TABLE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* Key number i. Odd factor: no two are equal, and none is 0 or all ones for any number in use. */
static inline uint64_t key_of(uint64_t number)
{
    return (number + 1) * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint32_t key_round(uint64_t factor, uint64_t summand, uint32_t half)
{
    return (uint32_t)((factor * half + summand) >> 32);
}

/* A bijection whose high and low bits look random: the same arithmetic as the library's, so that none has less to do. */
static inline uint64_t key_mix(uint64_t key)
{
    uint32_t left = (uint32_t)(key >> 32);
    uint32_t right = (uint32_t)key;

    left ^= key_round(UINT64_C(0xe9846af9b1a615d5), UINT64_C(0x53c5ca59f0a4a2e3), right);
    right ^= key_round(UINT64_C(0x9fb21c651e98df25), UINT64_C(0xc2f16d8a7b6e0f1d), left);
    left ^= key_round(UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x2545f4914f6cdd1d), right);
    return (uint64_t)left << 32 | right;
}

/* Successive states are a sum, so that the processor can begin the next operation before this one has ended. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t word = *state += UINT64_C(0x9e3779b97f4a7c15);

    word ^= word >> 32;
    word *= UINT64_C(0xd6e8feb86659fd93);
    return word ^ word >> 32;
}

/*
 * A number below count, which is below 2^32. Skewed: count * u^5 for a uniform u, so that the first 1 % of the keys have
 * 40 % of the operations, and the first key of a million 6 %.
 */
static inline uint64_t number_below(uint64_t word, uint64_t count, bool skewed)
{
    uint64_t u = word >> 32;

    if (skewed) {
        uint64_t square = u * u >> 32;
        u = (square * square >> 32) * u >> 32;
    }
    return u * count >> 32;
}

#endif

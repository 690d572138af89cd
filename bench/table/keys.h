/* SPDX-License-Identifier: MIT */
/* Keys, and the mixers of all candidates but the library's own table. In C and C++. */
#ifndef LADE_BENCH_TABLE_KEYS_H
#define LADE_BENCH_TABLE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* Key number i. Odd factor: no two are equal, and none is 0 or all ones for any number in use. */
static inline uint64_t key_of(uint64_t number)
{
    return (number + 1) * UINT64_C(0xd6e8feb86659fd93);
}

/* A bijection whose high bits look random: the library's mixer, with constants that the compiler knows. */
static inline uint64_t key_place(uint64_t key)
{
    key *= UINT64_C(0xe9846af9b1a615d5);
    key ^= key >> 32;
    return key * UINT64_C(0x9fb21c651e98df25);
}

/* For tables that take low bits too. */
static inline uint64_t key_mix(uint64_t key)
{
    key = key_place(key);
    return key ^ key >> 32;
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

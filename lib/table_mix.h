/* SPDX-License-Identifier: MIT */
/*
 * How keys become places. Internal.
 *
 * Words: three Feistel rounds on the halves, x -> (k x + c mod 2^64) >> 32 with random k and c. That function is strongly
 * universal (Dietzfelbinger, "Universal hashing and k-wise independent random variables via integer arithmetic without
 * primes", 1996), so the last two rounds send any two keys, chosen without knowing k and c, to one of m homes with
 * probability at most 1/m + 2^-32; the first breaks up runs of neighbouring keys.
 *
 * Byte strings: a polynomial in a random point modulo 2^61 - 1 over pieces of seven bytes, then mixed as a word. Two
 * strings of up to n pieces meet with probability at most (n + 1) / 2^61.
 */
#ifndef LADE_LIB_TABLE_MIX_H
#define LADE_LIB_TABLE_MIX_H

#include <lade/random.h>
#include <stddef.h>
#include <stdint.h>

struct lade_table_mixer {
    uint64_t k[3], c[3];
    uint64_t point;
};

#define LADE_TABLE_PRIME ((UINT64_C(1) << 61) - 1)

static inline void lade_table_mixer_init(struct lade_table_mixer *m, uint64_t seed)
{
    struct lade_key key = lade_key_make(seed, 0, UINT64_C(0x7461626c65)); /* "table" */

    for (uint64_t i = 0; i < 3; i++) {
        m->k[i] = lade_random_at(key, 0, 2 * i);
        m->c[i] = lade_random_at(key, 0, 2 * i + 1);
    }
    m->point = lade_random_at(key, 0, 6) % LADE_TABLE_PRIME;
}

static inline uint32_t lade_table_round(const struct lade_table_mixer *m, int i, uint32_t x)
{
    return (uint32_t)((m->k[i] * x + m->c[i]) >> 32);
}

static inline uint64_t lade_table_mix(const struct lade_table_mixer *m, uint64_t key)
{
    uint32_t left = (uint32_t)(key >> 32), right = (uint32_t)key;

    left ^= lade_table_round(m, 0, right);
    right ^= lade_table_round(m, 1, left);
    left ^= lade_table_round(m, 2, right);
    return (uint64_t)left << 32 | right;
}

static inline uint64_t lade_table_unmix(const struct lade_table_mixer *m, uint64_t mixed)
{
    uint32_t left = (uint32_t)(mixed >> 32), right = (uint32_t)mixed;

    left ^= lade_table_round(m, 2, right);
    right ^= lade_table_round(m, 1, left);
    left ^= lade_table_round(m, 0, right);
    return (uint64_t)left << 32 | right;
}

/* a * b + c modulo 2^61 - 1, for a, b < 2^61 and c < 2^57. */
static inline uint64_t lade_table_step(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t low;
    uint64_t high = lade_multiply(a, b, &low);
    uint64_t sum = (low & LADE_TABLE_PRIME) + (low >> 61 | high << 3) + c;

    sum = (sum & LADE_TABLE_PRIME) + (sum >> 61);
    return sum >= LADE_TABLE_PRIME ? sum - LADE_TABLE_PRIME : sum;
}

static inline uint64_t lade_table_mix_bytes(const struct lade_table_mixer *m, const void *key, size_t size)
{
    const unsigned char *byte = key;
    uint64_t sum = size & (LADE_TABLE_PRIME >> 4);

    for (size_t i = 0; i < size; i += 7) {
        uint64_t piece = 0;
        for (size_t j = i; j < size && j < i + 7; j++)
            piece |= (uint64_t)byte[j] << 8 * (j - i);
        sum = lade_table_step(sum, m->point, piece);
    }
    return lade_table_mix(m, sum);
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * How keys are mapped to positions. Internal.
 *
 * Words: multiply by a random odd number, xor the high half into the low one, multiply by another. Multiplication by a
 * random odd number sends any two words, chosen without knowing it, to one of m homes with probability at most 2/m
 * (Dietzfelbinger, Hagerup, Katajainen, Penttonen, "A reliable randomized algorithm for the closest-pair problem",
 * 1997): that is the last step. The steps before break up keys in arithmetic progression, which would often collide for
 * unlucky numbers.
 *
 * Byte strings: a polynomial in a random point modulo 2^61 - 1 over pieces of seven bytes, then mixed as a word. Two
 * strings of up to n pieces collide with probability at most (n + 1) / 2^61.
 */
#ifndef LADE_LIB_TABLE_MIX_H
#define LADE_LIB_TABLE_MIX_H

#include <lade/random.h>
#include <stddef.h>
#include <stdint.h>

struct lade_table_mixer {
    uint64_t first, second; /* odd */
    uint64_t unfirst, unsecond;
    uint64_t point;
};

#define LADE_TABLE_PRIME ((UINT64_C(1) << 61) - 1)

/* Returns the inverse of odd modulo 2^64: each step doubles the number of correct bits (Newton). */
static inline uint64_t lade_table_inverse(uint64_t odd)
{
    uint64_t inverse = odd; /* three bits are correct */

    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

static inline void lade_table_mixer_init(struct lade_table_mixer *m, uint64_t seed)
{
    struct lade_key key = lade_key_make(seed, 0, UINT64_C(0x7461626c65)); /* "table" */

    m->first = lade_random_at(key, 0, 0) | 1;
    m->second = lade_random_at(key, 0, 1) | 1;
    m->unfirst = lade_table_inverse(m->first);
    m->unsecond = lade_table_inverse(m->second);
    m->point = lade_random_at(key, 0, 2) % LADE_TABLE_PRIME;
}

static inline uint64_t lade_table_mix(const struct lade_table_mixer *m, uint64_t key)
{
    key *= m->first;
    key ^= key >> 32;
    return key * m->second;
}

static inline uint64_t lade_table_unmix(const struct lade_table_mixer *m, uint64_t mixed)
{
    mixed *= m->unsecond;
    mixed ^= mixed >> 32;
    return mixed * m->unfirst;
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

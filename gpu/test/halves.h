/* SPDX-License-Identifier: MIT */
/* Halves as defined by IEEE 754, without any library conversion: the value of each, and the nearest one. */
#ifndef LADE_TEST_HALVES_H
#define LADE_TEST_HALVES_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { HALF_INFINITY = 0x7c00 };

static inline uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of a half without sign; infinity counts as the next number. */
static inline double half_value(uint32_t half)
{
    uint32_t exponent = half >> 10, fraction = half & 0x3ff;

    return exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
}

/* The nearest half, found by binary search; ties to even. */
static inline uint16_t half_nearest(float x)
{
    uint32_t sign = bits_of(x) >> 16 & 0x8000, low = 0, high = HALF_INFINITY;
    double value = fabs((double)x);

    if (x != x)
        return (uint16_t)(sign | 0x7e00 | (bits_of(x) >> 13 & 0x1ff));
    if (value >= half_value(HALF_INFINITY))
        return (uint16_t)(sign | HALF_INFINITY);
    while (high - low > 1) { /* half_value(low) <= value < half_value(high) */
        uint32_t middle = (low + high) / 2;
        if (half_value(middle) <= value)
            low = middle;
        else
            high = middle;
    }
    double below = value - half_value(low), above = half_value(high) - value; /* both exact */
    return (uint16_t)(sign | (below < above || (below == above && low % 2 == 0) ? low : high));
}

#endif

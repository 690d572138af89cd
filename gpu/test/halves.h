/* SPDX-License-Identifier: MIT */
/* Halves as IEEE 754 defines them, without a conversion of anybody: the value of each, and which is nearest. */
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

/* Of a half without sign; infinity as the number that would come next. */
static inline double half_value(uint32_t half)
{
    uint32_t exponent = half >> 10, fraction = half & 0x3ff;

    return exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, (int)exponent - 25);
}

/* The nearest of the halves, found by halving the range; of two the even one. */
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

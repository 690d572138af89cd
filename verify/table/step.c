/* harness
 * property: a step of the hash of byte strings stays below 2^61 - 1 and is a * b + c modulo that
 * engines: cbmc
 * threads: 1
 * bound: any product below 2^76, any piece below 2^12
 * timeout: 120
 * cover: wrapped
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include <lade/random.h>

uint64_t nondet_uint64(void);

/* Any product of two factors below 2^61; the rest of the step uses only the product. */
static uint64_t high_half, low_half;

static uint64_t product(uint64_t a, uint64_t b, uint64_t *low)
{
    (void)a;
    (void)b;
    *low = low_half;
    return high_half;
}
#define lade_multiply product
#include "table_mix.h"
#undef lade_multiply

static void setup(void)
{
}

static void thread(int id)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t c = nondet_uint64();

    (void)id;
    high_half = nondet_uint64();
    low_half = nondet_uint64();
    assume(high_half < 1 << 12 && c < 1 << 12);
    uint64_t sum = lade_table_step(0, 0, c);
    assert(sum < LADE_TABLE_PRIME);
    /* q * 2^61 + r is q + r modulo 2^61 - 1. */
    wide whole = ((wide)high_half << 64) + low_half + c;
    uint64_t rest = (uint64_t)(whole >> 61) + (uint64_t)(whole & LADE_TABLE_PRIME);
    assert(sum == rest || sum + LADE_TABLE_PRIME == rest || sum + 2 * LADE_TABLE_PRIME == rest);
    if (sum != rest)
        cover(wrapped);
}

static void finish(void)
{
}

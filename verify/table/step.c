/* harness
 * property: a step of the hash of byte strings stays below 2^61 - 1 and is a * b + c modulo that
 * engines: cbmc
 * threads: 1
 * bound: range: any halves of the product; congruence: a any below 2^61, b below 256
 * timeout: 120
 * cover: wrapped
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include <lade/random.h>

uint64_t nondet_uint64(void);

/* Any product of two factors below 2^61; the real one where the harness says so. */
static bool real;

static uint64_t product(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t high;

    if (real)
        return lade_multiply(a, b, low);
    *low = nondet_uint64();
    high = nondet_uint64();
    assume(high < UINT64_C(1) << 58);
    return high;
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
    uint64_t a = nondet_uint64(), b = nondet_uint64(), c = nondet_uint64();

    (void)id;
    assume(a < UINT64_C(1) << 61 && b < UINT64_C(1) << 61 && c < UINT64_C(1) << 57);
    real = false;
    assert(lade_table_step(a, b, c) < LADE_TABLE_PRIME);
    assume(b < 256);
    real = true;
    uint64_t sum = lade_table_step(a, b, c);
    assert(sum < LADE_TABLE_PRIME);
    /* With q = whole / 2^61: whole is q * (2^61 - 1) + q + the rest, and q + the rest is less than twice 2^61 - 1. */
    wide whole = (wide)a * b + c;
    wide q = whole >> 61;
    assert(q * LADE_TABLE_PRIME + sum == whole || (q + 1) * LADE_TABLE_PRIME + sum == whole);
    if (q * LADE_TABLE_PRIME + sum != whole)
        cover(wrapped);
}

static void finish(void)
{
}

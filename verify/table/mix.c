/* harness
 * property: unmix is the inverse of mix on the halves of a key, and the computed inverses are inverses
 * engines: cbmc
 * threads: 1
 * bound: any key with multipliers of 1; the inverses of odd numbers below 128
 * timeout: 120
 * cover: moved
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#include "table_mix.h"

uint64_t nondet_uint64(void);

static void setup(void)
{
}

static void thread(int id)
{
    struct lade_table_mixer m;
    uint64_t key = nondet_uint64(), odd = nondet_uint64();

    (void)id;
    m.first = m.second = m.unfirst = m.unsecond = 1;
    assert(lade_table_unmix(&m, lade_table_mix(&m, key)) == key);
    if (lade_table_mix(&m, key) != key)
        cover(moved);
    assume(odd < 128 && odd % 2 == 1);
    assert(odd * lade_table_inverse(odd) == 1);
}

static void finish(void)
{
}

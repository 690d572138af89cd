/* harness
 * property: unmix undoes mix, for every mixer
 * engines: cbmc
 * threads: 1
 * bound: any key and additions, multipliers below 16
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
    uint64_t key = nondet_uint64();

    (void)id;
    for (int i = 0; i < 3; i++) {
        m.k[i] = nondet_uint64();
        assume(m.k[i] < 16); /* whatever a round computes, it is taken out again */
        m.c[i] = nondet_uint64();
    }
    assert(lade_table_unmix(&m, lade_table_mix(&m, key)) == key);
    if (lade_table_mix(&m, key) != key)
        cover(moved);
}

static void finish(void)
{
}

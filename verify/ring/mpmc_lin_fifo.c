/* harness
 * property: words leave the mpmc ring in the order in which they entered it, even when positions wrap around
 * engines: explore
 * threads: 3
 * bound: capacity 2, one word in it; two pushes, one push, two pops
 * executions: 20
 * cover: full both
 * timeout: 120
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 3
#define CAPACITY 2
#include "harness.h"

#include "lin.h"
#include "mpmc.h"

static bool push(int id, uint64_t word)
{
    return lade_mpmc_push(handle[id], word) == LADE_OK;
}

static uint64_t pop(int id)
{
    uint64_t word = 0;

    return lade_mpmc_pop(handle[id], &word) == LADE_OK ? word : 0;
}

static void setup(void)
{
    lin_setup();
    make(CAPACITY);
    lin_push(THREADS, 9);
}

static void thread(int id)
{
    if (id == 0) {
        if (!lin_push(id, 1) | !lin_push(id, 2))
            cover(full);
    } else if (id == 1) {
        lin_push(id, 3);
    } else {
        uint64_t first = lin_pop(id), second = lin_pop(id);
        if (first && second)
            cover(both);
    }
}

static void finish(void)
{
    while (lin_pop(THREADS))
        continue;
    lade_mpmc_destroy(ring);
}

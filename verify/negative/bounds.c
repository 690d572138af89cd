/* harness
 * property: a position past the last slot is never used (the comparison is off by one)
 * engines: native cbmc genmc explore
 * threads: 1
 * bound: 4 slots
 * flags cbmc: --unwind 6
 * expect: FAIL bounds
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

static uint32_t *slot;

static void setup(void)
{
    slot = malloc(4 * sizeof *slot);
    assume(slot != NULL);
}

static void thread(int id)
{
    (void)id;
    for (int i = 0; i <= 4; i++)
        slot[i] = 0;
}

static void finish(void)
{
    free(slot);
}

/* harness
 * property: a truncated loop does not pass
 * engines: cbmc
 * threads: 1
 * bound: 8 rounds of a loop, 4 unwound
 * flags cbmc: --unwind 4
 * expect: FAIL unwinding
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

static int sum;

static void setup(void) {}

static void thread(int id)
{
    for (int i = 0; i < 8; i++)
        sum += id;
}

static void finish(void)
{
    assert(sum == 0);
}

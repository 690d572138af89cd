/* harness
 * property: the sum of two int does not overflow (it does for large ones)
 * engines: native cbmc
 * threads: 1
 * bound: all values under CBMC
 * expect: FAIL overflow
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#define SEQUENTIAL
#include "harness.h"

#ifdef ENGINE_CBMC
int nondet_int(void);
#else
static int nondet_int(void)
{
    static int next;
    return next++ & 1 ? 0x7fffffff : 2;
}
#endif

static int sum;

static void setup(void) {}

static void thread(int id)
{
    (void)id;
    int a = nondet_int(), b = nondet_int();
    sum = a + b;
}

static void finish(void) {}

/* harness
 * property: two increments by load and store are both counted (one may be lost)
 * engines: native tsan genmc cbmc explore
 * threads: 2
 * bound: one increment each
 * rounds: 200000
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static atomic_int count;

static void setup(void)
{
    atomic_store_explicit(&count, 0, memory_order_relaxed);
}

static void thread(int id)
{
    (void)id;
    int seen = atomic_load_explicit(&count, memory_order_relaxed);
    pause_here();
    atomic_store_explicit(&count, seen + 1, memory_order_relaxed);
}

static void finish(void)
{
    assert(atomic_load_explicit(&count, memory_order_relaxed) == 2);
}

/* harness
 * property: a compare-exchange that finds the expected value succeeds (a weak one may fail spuriously; GenMC and x86 never let it)
 * engines: explore
 * threads: 1
 * bound: one attempt
 * expect: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#include "harness.h"

static atomic_int word;

static void setup(void) {}

static void thread(int id)
{
    int seen = 0;

    (void)id;
    assert(atomic_compare_exchange_weak_explicit(&word, &seen, 1, memory_order_relaxed, memory_order_relaxed));
}

static void finish(void) {}

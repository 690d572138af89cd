/* harness
 * property: an exploration truncated by a bound does not pass
 * engines: explore
 * threads: 1
 * bound: 100 additions, 50 events explored
 * flags explore: --max-events 50
 * expect: FAIL unwinding
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#include "harness.h"

static atomic_int sum;

static void setup(void) {}

static void thread(int id)
{
    for (int i = 0; i < 100; i++)
        atomic_fetch_add_explicit(&sum, id, memory_order_relaxed);
}

static void finish(void) {}

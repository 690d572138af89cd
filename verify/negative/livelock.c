/* harness
 * property: a thread that waits for a flag continues (no thread sets it)
 * engines: native tsan genmc explore
 * threads: 2
 * bound: one flag
 * stall: 2
 * flags genmc: --check-liveness
 * expect: FAIL livelock
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static atomic_int flag, other;

static void setup(void)
{
    atomic_store_explicit(&flag, 0, memory_order_relaxed);
    atomic_store_explicit(&other, 0, memory_order_relaxed);
}

static void thread(int id)
{
    if (id == 0)
        atomic_store_explicit(&other, 1, memory_order_release);
    else
        while (!atomic_load_explicit(&flag, memory_order_acquire))
            continue;
}

static void finish(void) {}

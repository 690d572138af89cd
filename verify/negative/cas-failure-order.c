/* harness
 * property: a thread that finds the slot taken may read what its owner wrote (it may not: the failure order is relaxed, and the success order acquire does not help a compare-exchange that fails; GenMC does not detect this)
 * engines: explore
 * threads: 2
 * bound: one owner, one late thread
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static atomic_int taken;
static int word;

static void setup(void) {}

static void thread(int id)
{
    int none = 0;

    if (id == 0) {
        word = 7;
        atomic_store_explicit(&taken, 1, memory_order_release);
    } else if (!atomic_compare_exchange_strong_explicit(&taken, &none, 2, memory_order_acquire, memory_order_relaxed)) {
        assert(word == 7);
    }
}

static void finish(void) {}

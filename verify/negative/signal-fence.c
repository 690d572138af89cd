/* harness
 * property: a fence publishes the word (it does not: a signal fence orders nothing between threads; GenMC treats it as a thread fence)
 * engines: explore
 * threads: 2
 * bound: one write, one read
 * expect: FAIL race
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static int word;
static atomic_int ready;

static void setup(void) {}

static void thread(int id)
{
    if (id == 0) {
        word = 1;
        atomic_signal_fence(memory_order_release);
        atomic_store_explicit(&ready, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&ready, memory_order_acquire)) {
        assert(word == 1);
    }
}

static void finish(void) {}

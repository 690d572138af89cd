/* harness
 * property: a word published by a relaxed store is read without a race (it is not: the engine must report it)
 * engines: tsan genmc explore
 * threads: 2
 * bound: one write, one read
 * expect: FAIL race
 * expect genmc/imm: FAIL assertion
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static int word;
static atomic_int ready;

static void setup(void)
{
    word = 0;
    atomic_store_explicit(&ready, 0, memory_order_relaxed);
}

static void thread(int id)
{
    if (id == 0) {
        word = 1;
        atomic_store_explicit(&ready, 1, memory_order_relaxed);
    } else if (atomic_load_explicit(&ready, memory_order_acquire)) {
        assert(word == 1);
    }
}

static void finish(void) {}

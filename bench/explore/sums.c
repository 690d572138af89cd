/* SPDX-License-Identifier: MIT */
/* Two threads add each other's variable to their own, alternately. */
#include "threads.h"

static atomic_int value[2] = {1, 1};

static void thread(int id)
{
    for (int i = 0; i < STEPS; i++) {
        int mine = atomic_load_explicit(&value[id], memory_order_relaxed);
        int other = atomic_load_explicit(&value[1 - id], memory_order_relaxed);
        atomic_store_explicit(&value[id], mine + other, memory_order_relaxed);
    }
}

static void finish(void)
{
    assert(atomic_load_explicit(&value[0], memory_order_relaxed) < 10000);
}

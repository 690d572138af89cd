/* SPDX-License-Identifier: MIT */
/* Every thread writes, then waits until the threads before it have finished, and reads. */
#include "threads.h"

static atomic_int x, turn;

static void thread(int id)
{
    for (int i = 0; i < STEPS; i++) {
        atomic_store_explicit(&x, id, memory_order_relaxed);
        while (atomic_load_explicit(&turn, memory_order_acquire) != i * THREADS + THREADS - 1 - id)
            continue;
        atomic_store_explicit(&turn, i * THREADS + THREADS - id, memory_order_release);
    }
}

static void finish(void)
{
    assert(atomic_load_explicit(&turn, memory_order_relaxed) == THREADS * STEPS);
}

/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other in rounds: the last to arrive opens the next round, and all others wait for it. */
#include "threads.h"

static atomic_int arrived, opened;

static void thread(int id)
{
    (void)id;
    for (int i = 1; i <= STEPS; i++) {
        if (atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel) == i * THREADS - 1)
            atomic_store_explicit(&opened, i, memory_order_release);
        else
            while (atomic_load_explicit(&opened, memory_order_acquire) < i)
                continue;
    }
}

static void finish(void)
{
    assert(atomic_load_explicit(&opened, memory_order_relaxed) == STEPS);
}

/* SPDX-License-Identifier: MIT */
/* One thread writes several values, the others each read twice and never see them go back. */
#include "threads.h"

static atomic_int shared;

static void thread(int id)
{
    if (id == 0) {
        for (int i = 1; i <= WRITES; i++)
            atomic_store_explicit(&shared, i, memory_order_release);
    } else {
        int first = atomic_load_explicit(&shared, memory_order_acquire);
        assert(atomic_load_explicit(&shared, memory_order_acquire) >= first);
    }
}

static void finish(void)
{
}

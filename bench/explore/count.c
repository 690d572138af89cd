/* SPDX-License-Identifier: MIT */
/* Every thread adds one to the same counter: THREADS! executions. */
#include "threads.h"

static atomic_int counter;

static void thread(int id)
{
    (void)id;
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
}

static void finish(void)
{
    assert(atomic_load_explicit(&counter, memory_order_relaxed) == THREADS);
}

/* SPDX-License-Identifier: MIT */
/* A plain counter behind a ticket lock, whose threads wait in a loop. */
#include "threads.h"

static atomic_int next, served;
static int counter;

static void thread(int id)
{
    (void)id;
    for (int i = 0; i < STEPS; i++) {
        int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
        while (atomic_load_explicit(&served, memory_order_acquire) != mine)
            continue;
        counter++;
        atomic_store_explicit(&served, mine + 1, memory_order_release);
    }
}

static void finish(void)
{
    assert(counter == THREADS * STEPS);
}

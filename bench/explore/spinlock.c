/* SPDX-License-Identifier: MIT */
/* A plain counter behind a lock that is taken by a compare-exchange, tried until it succeeds. */
#include "threads.h"

static atomic_int lock;
static int counter;

static void thread(int id)
{
    (void)id;
    for (int i = 0; i < STEPS; i++) {
        int unlocked;
        do
            unlocked = 0;
        while (
            !atomic_compare_exchange_strong_explicit(&lock, &unlocked, 1, memory_order_acquire, memory_order_relaxed));
        counter++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
}

static void finish(void)
{
    assert(counter == THREADS * STEPS);
}

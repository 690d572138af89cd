/* SPDX-License-Identifier: MIT */
/*
 * Crystal, Mutex#unlock (pull request 14272, 2024; on an Apple M1 an array lost 3 to 12 percent of its elements). The
 * lock is released by a store without any order.
 *
 * repair: release instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define UNLOCK memory_order_relaxed
#else
#define UNLOCK memory_order_release
#endif

static atomic_int state;
static int size;

static void setup(void)
{
}

static void thread(int id)
{
    (void)id;
    while (atomic_exchange_explicit(&state, 1, memory_order_seq_cst) != 0)
        continue;
    size++; /* the error */
    atomic_store_explicit(&state, 0, UNLOCK);
}

static void finish(void)
{
    assert(size == 2);
}

/* SPDX-License-Identifier: MIT */
/*
 * PhotonLibOS, mutex::try_lock (pull request 274, 2023). The compare-exchange that takes the mutex releases, and does
 * not acquire. What the lock protects may be read before the lock is taken.
 *
 * repair: acq_rel instead of release
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define TAKE memory_order_release
#else
#define TAKE memory_order_acq_rel
#endif

static atomic_int owner;
static int counter;

static void setup(void)
{
}

static void thread(int id)
{
    int free_ = 0;

    if (!atomic_compare_exchange_strong_explicit(&owner, &free_, 1 + id, TAKE, memory_order_relaxed))
        return;
    counter++; /* the error */
    atomic_store_explicit(&owner, 0, memory_order_seq_cst);
}

static void finish(void)
{
}

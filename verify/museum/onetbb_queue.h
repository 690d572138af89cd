/* SPDX-License-Identifier: MIT */
/*
 * oneTBB, concurrent_queue (pull request 782, 2022). try_pop must read the head before the tail. With a relaxed load
 * of the head it may combine a new head with an old tail, and reports an empty queue that is not.
 *
 * repair: acquire instead of relaxed
 */
#define THREADS 3
#include "harness.h"

#ifdef BROKEN
#define LOAD_HEAD memory_order_relaxed
#else
#define LOAD_HEAD memory_order_acquire
#endif

static atomic_int head, tail;

static void setup(void)
{
}

static void push_two(void)
{
    atomic_store_explicit(&tail, 2, memory_order_release);
}

static void pop_one(void)
{
    if (atomic_load_explicit(&tail, memory_order_acquire) == 2)
        atomic_fetch_add_explicit(&head, 1, memory_order_acq_rel);
}

static void pop_other(void)
{
    const int h = atomic_load_explicit(&head, LOAD_HEAD);
    const int t = atomic_load_explicit(&tail, memory_order_acquire);

    if (h == 1)
        assert(t - h > 0); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        push_two();
    else if (id == 1)
        pop_one();
    else
        pop_other();
}

static void finish(void)
{
}

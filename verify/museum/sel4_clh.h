/* SPDX-License-Identifier: MIT */
/*
 * seL4's big kernel lock, a CLH queue (pull request 199 and issue 207, 2020; seen on ARM servers). The exchange that
 * publishes a node does not release the store that marks the node as pending. The next thread may observe the node's
 * earlier state, granted.
 *
 * repair: acq_rel instead of acquire
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define PUBLISH memory_order_acquire
#else
#define PUBLISH memory_order_acq_rel
#endif

enum { GRANTED, PENDING };
static atomic_int node[3]; /* of thread 0, of thread 1, the first in the queue */
static _Atomic(atomic_int *) tail = &node[2];
static int counter;

static void setup(void)
{
}

static void thread(int id)
{
    atomic_store_explicit(&node[id], PENDING, memory_order_relaxed);
    atomic_int *before = atomic_exchange_explicit(&tail, &node[id], PUBLISH);
    while (atomic_load_explicit(before, memory_order_acquire) != GRANTED)
        continue;
    counter++; /* the error */
    atomic_store_explicit(&node[id], GRANTED, memory_order_release);
}

static void finish(void)
{
    assert(counter == 2);
}

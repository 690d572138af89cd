/* SPDX-License-Identifier: MIT */
/*
 * crossbeam-epoch, Global::push_bag (pull request 53, 2017; found by comparing the code with the proof). Garbage is
 * tagged with the global epoch, which was read before the fence that follows the removal. A reader pinned in a newer
 * epoch may still see the object, while by the tag two epochs have passed.
 *
 * repair: seq_cst instead of relaxed, seq_cst instead of relaxed
 */
#define THREADS 3
#include "harness.h"

static atomic_int epoch, pinned[2] = {1, 0}; /* pinned: 1 + local epoch, 0: not pinned; thread 0 is pinned in epoch 0 */
static atomic_int garbage;                   /* 1 + tag */
static int object;
static _Atomic(int *) shared = &object;

static void setup(void)
{
}

static void remove_object(void)
{
    atomic_store_explicit(&shared, NULL, memory_order_relaxed);
#ifdef BROKEN
    const int tag = atomic_load_explicit(&epoch, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
    const int tag = atomic_load_explicit(&epoch, memory_order_relaxed);
#endif
    atomic_store_explicit(&garbage, 1 + tag, memory_order_release);
    atomic_store_explicit(&pinned[0], 0, memory_order_release);
}

static void use_object(void)
{
    atomic_store_explicit(&pinned[1], 1 + atomic_load_explicit(&epoch, memory_order_relaxed), memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    int *o = atomic_load_explicit(&shared, memory_order_acquire);
    if (o)
        (void)*(volatile int *)o;
    atomic_store_explicit(&pinned[1], 0, memory_order_release);
}

static bool advance(int from)
{
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < 2; i++) {
        const int p = atomic_load_explicit(&pinned[i], memory_order_relaxed);
        if (p != 0 && p != 1 + from)
            return false;
    }
    atomic_thread_fence(memory_order_acquire);
    atomic_store_explicit(&epoch, from + 1, memory_order_release);
    return true;
}

static void collect(void)
{
    if (!advance(0) || !advance(1))
        return;
    const int g = atomic_load_explicit(&garbage, memory_order_acquire);
    if (g != 0 && 2 >= g - 1 + 2)
        object = -1; /* the error: frees it */
}

static void thread(int id)
{
    if (id == 0)
        remove_object();
    else if (id == 1)
        use_object();
    else
        collect();
}

static void finish(void)
{
}

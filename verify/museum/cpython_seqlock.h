/* SPDX-License-Identifier: MIT */
/*
 * CPython 3.13, free-threaded build: the type cache's sequence lock (gh-121388, 2024). The reader loads the sequence
 * number, copies the entry, and loads the number again; nothing kept the copy between the two loads. A fence is
 * missing on each side.
 *
 * repair: release instead of relaxed, release instead of relaxed, acquire instead of relaxed, acquire instead of
 *         relaxed
 */
#define THREADS 2
#include "harness.h"

static _Atomic unsigned sequence;
static atomic_int name, value;

static void setup(void)
{
}

static void write_entry(int to)
{
    atomic_store_explicit(&sequence, 1,
                          memory_order_relaxed); /* one writer; it locked the number by a compare-exchange */
#ifndef BROKEN
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&name, to, memory_order_relaxed);
    atomic_store_explicit(&value, to, memory_order_relaxed);
    atomic_store_explicit(&sequence, 2, memory_order_release);
}

static void read_entry(void)
{
    const unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);

    if (before & 1)
        return;
    const int n = atomic_load_explicit(&name, memory_order_relaxed);
    const int v = atomic_load_explicit(&value, memory_order_relaxed);
#ifndef BROKEN
    atomic_thread_fence(memory_order_acquire);
#endif
    if (atomic_load_explicit(&sequence, memory_order_relaxed) == before)
        assert(n == v); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        write_entry(1);
    else
        read_entry();
}

static void finish(void)
{
}

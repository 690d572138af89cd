/* SPDX-License-Identifier: MIT */
/*
 * libcuckoo, snapshot_and_lock_two (pull request 173, 2026). A look-up loads the size of the table, then the counter
 * of resizes, and compares the counter again when it holds the locks. A resize between the first two loads is not
 * noticed.
 *
 * repair: none
 */
#define THREADS 2
#include "harness.h"

static atomic_int hashpower = 1, resizes;

static void setup(void)
{
}

static void resize(void)
{
    atomic_store_explicit(&hashpower, 2, memory_order_relaxed);
    atomic_fetch_add_explicit(&resizes, 1, memory_order_release);
}

static void look_up(void)
{
#ifdef BROKEN
    const int power = atomic_load_explicit(&hashpower, memory_order_acquire);
    const int before = atomic_load_explicit(&resizes, memory_order_acquire);
#else
    const int before = atomic_load_explicit(&resizes, memory_order_acquire);
    const int power = atomic_load_explicit(&hashpower, memory_order_acquire);
#endif
    /* It takes its two locks, which a resize holds; here that is the second load of the counter alone. */
    if (atomic_load_explicit(&resizes, memory_order_acquire) == before)
        assert(before == 0 || power == 2); /* the error */
}

static void thread(int id)
{
    if (id == 0)
        resize();
    else
        look_up();
}

static void finish(void)
{
}

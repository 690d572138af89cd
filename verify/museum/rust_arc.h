/* SPDX-License-Identifier: MIT */
/*
 * Rust's standard library, Arc::get_mut (issue 51780, 2018; found while proving Arc correct). Dropping a reference
 * releases, but the check that this reference is the only one was a relaxed load, so nothing orders the other thread's
 * last access before the modification.
 *
 * repair: acquire instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define IS_UNIQUE memory_order_relaxed
#else
#define IS_UNIQUE memory_order_acquire
#endif

static atomic_int references = 2;
static int object;

static void setup(void)
{
}

static void drop(void)
{
    object = 1; /* under a lock that it leaves locked */
    atomic_fetch_sub_explicit(&references, 1, memory_order_release);
}

static void get_mut(void)
{
    if (atomic_load_explicit(&references, IS_UNIQUE) == 1)
        object = 2; /* the error */
}

static void thread(int id)
{
    if (id == 0)
        drop();
    else
        get_mut();
}

static void finish(void)
{
}

/* harness
 * property: the last of two holders frees the object (both consider themselves the last)
 * engines: native explore
 * threads: 2
 * bound: two holders
 * rounds: 200000
 * expect: FAIL double-free
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static atomic_int holders;
static int *object;

static void setup(void)
{
    object = malloc(sizeof *object);
    atomic_store_explicit(&holders, 2, memory_order_relaxed);
}

/* The count is read again after the decrement: both may find zero. */
static void thread(int id)
{
    (void)id;
    atomic_fetch_sub_explicit(&holders, 1, memory_order_acq_rel);
    pause_here();
    if (atomic_load_explicit(&holders, memory_order_acquire) == 0)
        free(object);
}

static void finish(void) {}

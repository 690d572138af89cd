/* harness
 * property: a reader that found the object may still read it (the writer frees it without waiting)
 * engines: genmc/rc11 explore
 * threads: 2
 * bound: one reader, one writer
 * expect: FAIL use-after-free
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static _Atomic(atomic_int *) shared;
static atomic_int *object;

static void setup(void)
{
    object = malloc(sizeof *object);
    atomic_store_explicit(object, 7, memory_order_relaxed);
    atomic_store_explicit(&shared, object, memory_order_release);
}

static void thread(int id)
{
    if (id == 0) {
        atomic_int *found = atomic_load_explicit(&shared, memory_order_acquire);
        pause_here();
        if (found)
            assert(atomic_load_explicit(found, memory_order_relaxed) == 7);
    } else {
        atomic_store_explicit(&shared, NULL, memory_order_release);
        free(object);
    }
}

static void finish(void) {}

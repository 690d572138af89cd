/* harness
 * property: a pointer that was loaded is not null (it is before the store)
 * engines: explore
 * threads: 2
 * bound: one store, one load
 * expect: FAIL crash
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static int object;
static _Atomic(int *) place;

static void setup(void) {}

static void thread(int id)
{
    if (id == 0)
        atomic_store_explicit(&place, &object, memory_order_release);
    else
        assert(*atomic_load_explicit(&place, memory_order_acquire) == 0);
}

static void finish(void) {}

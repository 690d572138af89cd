/* harness
 * property: a slot is written before it is read (it is not)
 * engines: genmc explore
 * threads: 2
 * bound: one slot
 * expect: FAIL uninitialised
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static atomic_int *slot;

static void setup(void)
{
    slot = malloc(sizeof *slot);
}

static void thread(int id)
{
    if (id == 0)
        atomic_store_explicit(slot, 1, memory_order_release);
    else
        assert(atomic_load_explicit(slot, memory_order_acquire) <= 1);
}

static void finish(void)
{
    free(slot);
}

/* harness
 * property: the thread that loses the race frees its object (it does not)
 * engines: native genmc explore
 * threads: 2
 * bound: two insertions into one slot
 * expect: FAIL leak
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static _Atomic(int *) place;

static void setup(void)
{
    atomic_store_explicit(&place, NULL, memory_order_relaxed);
}

static void thread(int id)
{
    int *mine = malloc(sizeof *mine);
    int *none = NULL;

    *mine = id;
    atomic_compare_exchange_strong_explicit(&place, &none, mine, memory_order_acq_rel, memory_order_acquire);
}

static void finish(void)
{
    free(atomic_load_explicit(&place, memory_order_acquire));
}

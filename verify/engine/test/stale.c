/* SPDX-License-Identifier: MIT */
/*
 * A load does not miss a store that comes after it in some interleaving: nothing is called stale.
 *
 * expect: error assertion
 * silent: stale:
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *run(void *arg)
{
    assert(atomic_load_explicit(&x, memory_order_relaxed));
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    int before = atomic_load_explicit(&y, memory_order_relaxed);
    atomic_store_explicit(&y, before + 1, memory_order_relaxed);
    atomic_load_explicit(&y, memory_order_relaxed);
    /* What T1 misses. */
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_join(t, NULL);
    return 0;
}

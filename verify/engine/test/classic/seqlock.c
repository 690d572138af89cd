/* SPDX-License-Identifier: MIT */
/*
 * A sequence lock, all relaxed: the reader sees half of a change.
 *
 * error: assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int version, x, y;

static void *t1(void *arg)
{
    atomic_store_explicit(&version, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&version, 2, memory_order_relaxed);
    return arg;
}

static void *t2(void *arg)
{
    int before = atomic_load_explicit(&version, memory_order_relaxed);
    int a = atomic_load_explicit(&x, memory_order_relaxed);
    int b = atomic_load_explicit(&y, memory_order_relaxed);
    int after = atomic_load_explicit(&version, memory_order_relaxed);
    if (before == after && before % 2 == 0)
        assert(a == b);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

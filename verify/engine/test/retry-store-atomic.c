/* SPDX-License-Identifier: MIT */
/*
 * A retry stores atomically, and another thread loads what the iteration that failed has stored.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, last = -1;

static void *add(void *arg)
{
    int old = atomic_load_explicit(&x, memory_order_relaxed);

    do
        atomic_store_explicit(&last, old, memory_order_release);
    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 2, memory_order_release, memory_order_relaxed));
    return arg;
}

static void *other(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    int first = atomic_load_explicit(&last, memory_order_acquire);
    int second = atomic_load_explicit(&last, memory_order_acquire);
    assert(!(first == 0 && second == 1));
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, add, NULL);
    pthread_create(&u, NULL, other, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * T's last compare-exchange fails, so only an iteration that waits stores to x. The load does not depend on T.
 *
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, k;
static void *t(void *a)
{
    int e = 0;
    while (atomic_compare_exchange_strong_explicit(&x, &e, 0, memory_order_relaxed, memory_order_relaxed))
        e = 0;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return a;
}
static void *s(void *a)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&k, 1, memory_order_release);
    return a;
}
static void *v(void *a)
{
    if (atomic_load_explicit(&k, memory_order_acquire))
        (void)*(volatile int *)&x;
    return a;
}
int main(void)
{
    pthread_t h[3];
    pthread_create(&h[0], 0, t, 0);
    pthread_create(&h[1], 0, s, 0);
    pthread_create(&h[2], 0, v, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(h[i], 0);
    return 0;
}

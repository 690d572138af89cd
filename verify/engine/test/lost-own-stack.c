/* SPDX-License-Identifier: MIT */
/*
 * The failed iteration loads a local of the same thread; nothing orders that before the store of another one.
 *
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int *_Atomic P;
static void *t(void *a)
{
    int l = 0, s = 0;
    atomic_store_explicit(&P, &l, memory_order_release);
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        s = *(volatile int *)&l;
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    while (atomic_load_explicit(&x, memory_order_acquire) != 2) ;
    (void)s;
    return a;
}
static void *u(void *a)
{
    int *p = atomic_load_explicit(&P, memory_order_acquire);
    if (p && atomic_load_explicit(&y, memory_order_relaxed))
        *p = 1;
    atomic_store_explicit(&x, 2, memory_order_release);
    return a;
}
static void *v(void *a) { int e = 0; atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, memory_order_relaxed); return a; }
int main(void)
{
    pthread_t h[3];
    pthread_create(&h[0], 0, t, 0);
    pthread_create(&h[1], 0, u, 0);
    pthread_create(&h[2], 0, v, 0);
    for (int i = 0; i < 3; i++) pthread_join(h[i], 0);
    return 0;
}

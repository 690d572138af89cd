/* SPDX-License-Identifier: MIT */
/*
 * A lock whose waiting loop makes a plain store.
 *
 * expect: error blocking
 * options: --stop-threads
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int l;
static int waiting[2];
static void *t(void *a)
{
    while (atomic_exchange_explicit(&l, 1, memory_order_acquire))
        while (atomic_load_explicit(&l, memory_order_relaxed)) waiting[a != 0] = 1;
    atomic_store_explicit(&l, 0, memory_order_release);
    return a;
}
int main(void)
{
    pthread_t h[2];
    pthread_create(&h[0], 0, t, 0);
    pthread_create(&h[1], 0, t, &l);
    for (int i = 0; i < 2; i++) pthread_join(h[i], 0);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * T's failed iteration locks m; nothing orders that before the destruction.
 *
 * expect: error mutex
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define LD(v) atomic_load_explicit(&v, memory_order_relaxed)
#define ST(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)
static void *w(void *a)
{
    while (!LD(x)) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    ST(y, 1);
    return a;
}
static void *u(void *a)
{
    if (LD(y))
        pthread_mutex_destroy(&m);
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, w, 0);
    pthread_create(&t[1], 0, u, 0);
    ST(x, 1);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}

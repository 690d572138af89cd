/* SPDX-License-Identifier: MIT */
/*
 * The same with a mutex.
 *
 * expect: error linearizability
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, flag;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static bool spec(void *s, int op, long arg, long r)
{
    int *set = s;
    (void)arg;
    if (op == 0) { *set = 1; return true; }
    return r == *set;
}
static void *t(void *a)
{
    explore_begin(0, 0);
    explore_end(0);
    while (!atomic_load_explicit(&x, memory_order_relaxed)) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    atomic_store_explicit(&flag, 1, memory_order_relaxed); /* too late */
    return a;
}
static void *u(void *a)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    explore_begin(1, 0);
    explore_end(atomic_load_explicit(&flag, memory_order_relaxed));
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return a;
}
int main(void)
{
    pthread_t h[2];
    explore_spec(sizeof(int), spec);
    pthread_create(&h[0], 0, t, 0);
    pthread_create(&h[1], 0, u, 0);
    pthread_join(h[0], 0);
    pthread_join(h[1], 0);
    return 0;
}

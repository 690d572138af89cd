/* SPDX-License-Identifier: MIT */
/*
 * T's failed iteration releases; U acquires it, so the insertion came before the search, which does not find it.
 *
 * expect: error linearizability
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, flag;
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
    while (!atomic_fetch_add_explicit(&x, 0, memory_order_release))
        ;
    atomic_store_explicit(&flag, 1, memory_order_relaxed); /* too late */
    return a;
}
static void *u(void *a)
{
    (void)atomic_load_explicit(&x, memory_order_acquire);
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

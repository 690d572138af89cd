/* SPDX-License-Identifier: MIT */
/*
 * The iteration loads a local of the same thread, and another thread stores to it after the loop has ended.
 *
 * expect: error race 36 19
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, ended, left;
static int *_Atomic where;

static void *waiter(void *arg)
{
    int local = 0, seen = 0;

    atomic_store_explicit(&where, &local, memory_order_release);
    while (!atomic_load_explicit(&x, memory_order_acquire))
        seen = local;
    (void)seen;
    atomic_store_explicit(&ended, 1, memory_order_relaxed);
    while (!atomic_load_explicit(&left, memory_order_acquire))
        ;
    return arg;
}

static void *storer(void *arg)
{
    int *p;

    while (!(p = atomic_load_explicit(&where, memory_order_acquire)))
        ;
    atomic_store_explicit(&x, 1, memory_order_release);
    while (!atomic_load_explicit(&ended, memory_order_relaxed))
        ;
    *p = 1;
    atomic_store_explicit(&left, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, waiter, NULL);
    pthread_create(&u, NULL, storer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

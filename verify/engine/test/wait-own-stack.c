/* SPDX-License-Identifier: MIT */
/*
 * The iteration loads a local of the same thread, which another thread stores to.
 *
 * expect: error race 30 19
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int *_Atomic where;

static void *waiter(void *arg)
{
    int local = 0, seen = 0;

    atomic_store_explicit(&where, &local, memory_order_release);
    while (!atomic_load_explicit(&x, memory_order_acquire))
        seen = local;
    (void)seen;
    return arg;
}

static void *storer(void *arg)
{
    int *p;

    while (!(p = atomic_load_explicit(&where, memory_order_acquire)))
        ;
    *p = 1;
    atomic_store_explicit(&x, 1, memory_order_release);
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

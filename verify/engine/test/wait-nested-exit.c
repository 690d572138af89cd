/* SPDX-License-Identifier: MIT */
/*
 * The inner of two waiting loops loads data. The store comes after the outer one has ended.
 *
 * expect: error race 31 19
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int outer, inner, ended;
static int data;

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&outer, memory_order_acquire))
        while (atomic_load_explicit(&inner, memory_order_acquire))
            seen = data;
    (void)seen;
    atomic_store_explicit(&ended, 1, memory_order_relaxed);
    return arg;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&inner, 1, memory_order_release);
    atomic_store_explicit(&inner, 0, memory_order_release);
    atomic_store_explicit(&outer, 1, memory_order_release);
    if (atomic_load_explicit(&ended, memory_order_acquire))
        data = 5;
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

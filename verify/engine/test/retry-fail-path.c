/* SPDX-License-Identifier: MIT */
/*
 * The path from a failed compare-exchange to the next one loads data; the path from the first load does not. The store comes
 * after the exit.
 *
 * expect: error race 18 28
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, flag;
static int data;

static void *store(void *arg)
{
    atomic_store_explicit(&top, 1, memory_order_release);
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        data = 5;
    return arg;
}

static void *take(void *arg)
{
    int seen = 0, t = atomic_load_explicit(&top, memory_order_acquire);

    while (!atomic_compare_exchange_strong_explicit(&top, &t, 2, memory_order_acquire, memory_order_acquire))
        if (t == 1)
            seen = data;
    (void)seen;
    if (t == 1)
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, store, NULL);
    pthread_create(&u, NULL, take, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

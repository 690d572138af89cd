/* SPDX-License-Identifier: MIT */
/*
 * The path behind a failed compare-exchange that read an old value loads data, and a third thread stores to data.
 *
 * expect: error race 33 26
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top;
static int data;

static void *store(void *arg)
{
    atomic_store_explicit(&top, 1, memory_order_release);
    atomic_store_explicit(&top, 3, memory_order_release);
    return arg;
}

static void *take(void *arg)
{
    int seen = 0, t = atomic_load_explicit(&top, memory_order_acquire);

    while (!atomic_compare_exchange_strong_explicit(&top, &t, 2, memory_order_acquire, memory_order_acquire))
        if (t == 1)
            seen = data;
    (void)seen;
    return arg;
}

static void *put(void *arg)
{
    data = 5;
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, store, NULL);
    pthread_create(&t[1], NULL, take, NULL);
    pthread_create(&t[2], NULL, put, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

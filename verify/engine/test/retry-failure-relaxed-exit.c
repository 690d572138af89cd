/* SPDX-License-Identifier: MIT */
/*
 * The value that the failed compare-exchange read relaxed is used after the loop. The first load would have acquired it.
 *
 * expect: error race 27 15
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int data;

static void *publish(void *arg)
{
    data = 5;
    atomic_store_explicit(&x, 1, memory_order_release);
    return arg;
}

static void *take(void *arg)
{
    int seen = 0, t = atomic_load_explicit(&x, memory_order_acquire);

    while (!atomic_compare_exchange_strong_explicit(&x, &t, t + 2, memory_order_relaxed, memory_order_relaxed))
        ;
    if (t == 1)
        seen = data;
    (void)seen;
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, publish, NULL);
    pthread_create(&u, NULL, take, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

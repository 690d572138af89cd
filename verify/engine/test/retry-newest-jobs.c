/* SPDX-License-Identifier: MIT */
/*
 * With several processes retries are in the graph, and block their thread there: that is no livelock either.
 *
 * expect: pass 2
 * options: -j 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 2 };
static atomic_int x;

static void *add(void *arg)
{
    int old = atomic_load_explicit(&x, memory_order_relaxed);

    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed, memory_order_relaxed))
        ;
    return arg;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, add, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}

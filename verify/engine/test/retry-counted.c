/* SPDX-License-Identifier: MIT */
/*
 * The number of retries is a result: with three threads one of them may fail twice.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x;

static void *add(void *arg)
{
    int old = atomic_load_explicit(&x, memory_order_relaxed), tries = 0;

    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed, memory_order_relaxed))
        tries++;
    assert(tries < 2);
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

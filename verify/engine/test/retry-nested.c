/* SPDX-License-Identifier: MIT */
/*
 * The compare-exchange and the load before it are in functions that the loop calls.
 *
 * expect: pass 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x;

static int look(void)
{
    return atomic_load_explicit(&x, memory_order_relaxed);
}

static bool change(int *old, int by)
{
    return atomic_compare_exchange_strong_explicit(&x, old, *old + by, memory_order_relaxed, memory_order_relaxed);
}

static void *add(void *arg)
{
    int old;

    do
        old = look();
    while (!change(&old, 1));
    return arg;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, add, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    assert(atomic_load(&x) == N);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Whether a value makes the loop wait depends on a plain variable, which differs from execution to execution.
 *
 * expect: error assertion 21
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int enough;

static void *waiter(void *arg)
{
    int seen;

    do
        seen = atomic_load_explicit(&x, memory_order_relaxed);
    while (!seen && !enough);
    assert(seen);
    return arg;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&u, NULL, storer, NULL);
    enough = atomic_load_explicit(&y, memory_order_relaxed);
    pthread_create(&t, NULL, waiter, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

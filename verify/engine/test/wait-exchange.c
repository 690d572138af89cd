/* SPDX-License-Identifier: MIT */
/*
 * A lock taken by a compare-exchange that is tried until it succeeds.
 *
 * expect: pass 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int lock;
static int data;

static void *run(void *arg)
{
    int free;

    do
        free = 0;
    while (!atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed));
    data++;
    atomic_store_explicit(&lock, 0, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}

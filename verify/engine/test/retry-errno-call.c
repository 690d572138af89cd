/* SPDX-License-Identifier: MIT */
/*
 * A retry leaves its trace in errno alone, and a library function puts it there.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { N = 2 };
static atomic_int x;

static void *add(void *arg)
{
    int old = atomic_load_explicit(&x, memory_order_relaxed);

    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed, memory_order_relaxed))
        (void)strtol("99999999999999999999", NULL, 10);
    assert(errno != ERANGE);
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

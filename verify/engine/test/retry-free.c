/* SPDX-License-Identifier: MIT */
/*
 * A retry allocates and frees: it is not left out.
 *
 * expect: pass
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { N = 2 };
static atomic_int x;

static void *add(void *arg)
{
    int old = atomic_load_explicit(&x, memory_order_relaxed);

    while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 1, memory_order_relaxed, memory_order_relaxed)) {
        int *p = malloc(sizeof *p);
        *p = old;
        free(p);
    }
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

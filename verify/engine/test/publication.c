/* SPDX-License-Identifier: MIT */
/*
 * A block published by a relaxed store: not even its allocation is ordered before its use.
 *
 * expect: error race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic(int *) p;

static void *t1(void *arg)
{
    (void)arg;
    int *q = malloc(sizeof *q);
    atomic_store_explicit(&p, q, memory_order_relaxed);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    int *q = atomic_load_explicit(&p, memory_order_relaxed);
    if (q)
        *q = 1;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    free(p);
    return 0;
}

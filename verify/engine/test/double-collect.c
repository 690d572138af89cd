/* SPDX-License-Identifier: MIT */
/*
 * Two equal collects in a row: the loop continues only while values change, and every value must be tried.
 *
 * expect: pass 3
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&x, 1);
    atomic_store(&x, 2);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    int a = atomic_load(&x), b;
    while ((b = atomic_load(&x)) != a)
        a = b;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

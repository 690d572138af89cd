/* SPDX-License-Identifier: MIT */
/*
 * The process ends when main returns: with a thread in a loop, one at a mutex, and one that joins another. They were not joined,
 * and what they hold is no leak.
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stop;

static void *spin(void *arg)
{
    int *own = malloc(sizeof *own);
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        ;
    free(own);
    return arg;
}

static void *lock(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *join(void *arg)
{
    pthread_t t;
    pthread_create(&t, NULL, spin, NULL);
    pthread_join(t, NULL);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_mutex_lock(&m);
    pthread_create(&t, NULL, spin, NULL);
    pthread_create(&t, NULL, lock, NULL);
    pthread_create(&t, NULL, join, NULL);
    return 0;
}

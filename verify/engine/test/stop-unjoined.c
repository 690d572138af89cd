/* SPDX-License-Identifier: MIT */
/*
 * Main returns at once, but that one thread keeps the other from finishing is still found.
 * expect: error blocking
 * options: --stop-threads
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *set(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

static void *wait(void *arg)
{
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        ;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, set, NULL);
    pthread_create(&t, NULL, wait, NULL);
    return 0;
}

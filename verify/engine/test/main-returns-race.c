/* SPDX-License-Identifier: MIT */
/*
 * A thread that is not joined runs to its end: it races with main.
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int data;

static void *run(void *arg)
{
    while (!atomic_load_explicit(&x, memory_order_relaxed))
        ;
    data = 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    data = 2;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return 0;
}

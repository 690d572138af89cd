/* SPDX-License-Identifier: MIT */
/*
 * exit(0) ends the process as a return from main does, from within any function.
 * expect: pass 2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;

static void *run(void *arg)
{
    if (atomic_load_explicit(&x, memory_order_relaxed))
        return arg;
    for (;;)
        if (atomic_load_explicit(&x, memory_order_relaxed) == 2)
            return arg;
}

static void finish(void)
{
    int *p = malloc(sizeof *p);
    *p = 1;
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    exit(*p - 1);
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    finish();
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread uses a local of main's function, and nothing orders that before the return. What lies there next is not its own.
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int used;

static void *use(void *arg)
{
    atomic_store_explicit((atomic_int *)arg, 1, memory_order_relaxed);
    atomic_store_explicit(&used, 1, memory_order_relaxed);
    return NULL;
}

static void first(void)
{
    pthread_t t;
    atomic_int local[8];
    for (int i = 0; i < 8; i++)
        atomic_init(&local[i], 0);
    pthread_create(&t, NULL, use, &local[4]);
    while (!atomic_load_explicit(&used, memory_order_relaxed))
        ;
    atomic_load_explicit(&local[4], memory_order_relaxed);
}

static void clear(int *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = 0;
}

static void second(void)
{
    int local[32];
    clear(local, 32);
}

int main(void)
{
    first();
    second();
    return 0;
}

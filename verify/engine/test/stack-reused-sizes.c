/* SPDX-License-Identifier: MIT */
/*
 * A thread uses a local of main's function, and nothing orders that before the return. An atomic of another size there is refused.
 * expect: unsupported
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

static void clear(atomic_short *p, int n)
{
    for (int i = 0; i < n; i++)
        atomic_store_explicit(&p[i], 0, memory_order_relaxed);
}

static void second(void)
{
    atomic_short local[64];
    clear(local, 64);
}

int main(void)
{
    first();
    second();
    return 0;
}

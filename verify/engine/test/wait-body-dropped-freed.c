/* SPDX-License-Identifier: MIT */
/*
 * The loop loads from a block in an iteration that sees the first of two values. The block is freed by a thread that does
 * not wait for the loop.
 *
 * expect: error use-after-free 23 33
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int step, go;
static int *block;

static void *owner(void *arg)
{
    block = malloc(sizeof *block);
    *block = 1;
    atomic_store_explicit(&step, 1, memory_order_release);
    atomic_store_explicit(&step, 2, memory_order_release);
    while (!atomic_load_explicit(&go, memory_order_acquire))
        ;
    free(block);
    return arg;
}

static void *looker(void *arg)
{
    int now, seen = 0;

    while ((now = atomic_load_explicit(&step, memory_order_acquire)) != 2)
        if (now == 1)
            seen = *block;
    (void)seen;
    return arg;
}

static void *signal(void *arg)
{
    atomic_store_explicit(&go, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, owner, NULL);
    pthread_create(&t[1], NULL, looker, NULL);
    pthread_create(&t[2], NULL, signal, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

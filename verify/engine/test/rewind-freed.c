/* SPDX-License-Identifier: MIT */
/*
 * An iteration that is taken back has loaded from a block, atomically too, that is freed after the loop in any case.
 *
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct block {
    atomic_int count;
    int data;
} *block;
static atomic_int x, z;

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire)) {
        (void)atomic_load_explicit(&block->count, memory_order_relaxed);
        (void)atomic_load_explicit(&block->count, memory_order_relaxed);
        seen = block->data;
    }
    (void)seen;
    atomic_store_explicit(&z, 1, memory_order_release);
    return arg;
}

static void *owner(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    while (!atomic_load_explicit(&z, memory_order_acquire))
        ;
    free(block);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    block = malloc(sizeof *block);
    atomic_init(&block->count, 0);
    block->data = 1;
    pthread_create(&t, NULL, waiter, NULL);
    pthread_create(&u, NULL, owner, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

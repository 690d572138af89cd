/* SPDX-License-Identifier: MIT */
/*
 * The atomic store defines the memory, but nothing orders it before the plain load.
 * expect: error race 29 18
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct box {
    int value;
    atomic_int full;
};

static void *fill(void *arg)
{
    struct box *b = arg;

    __atomic_store_n(&b->value, 1, __ATOMIC_RELAXED);
    atomic_store_explicit(&b->full, 1, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    pthread_t t;
    struct box *b = malloc(sizeof *b);
    atomic_init(&b->full, 0);
    pthread_create(&t, NULL, fill, b);
    int seen = atomic_load_explicit(&b->full, memory_order_relaxed) ? b->value : 0;
    pthread_join(t, NULL);
    free(b);
    return seen & 0;
}

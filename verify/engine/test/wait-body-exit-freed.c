/* SPDX-License-Identifier: MIT */
/*
 * As wait-body-exit, with an atomic load of a block that is then freed.
 *
 * expect: error use-after-free 18 27
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int asked, answered;

static void *owner(void *arg)
{
    atomic_store_explicit(&asked, 1, memory_order_release);
    while (!atomic_load_explicit(&answered, memory_order_relaxed))
        ;
    free(arg);
    return NULL;
}

static void *waiter(void *arg)
{
    atomic_int *hint = arg;

    while (!atomic_load_explicit(&asked, memory_order_acquire))
        (void)atomic_load_explicit(hint, memory_order_relaxed);
    atomic_store_explicit(&answered, 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    atomic_int *hint = malloc(sizeof *hint);

    atomic_init(hint, 0);
    pthread_create(&t, NULL, owner, hint);
    pthread_create(&u, NULL, waiter, hint);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

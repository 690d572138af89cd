/* SPDX-License-Identifier: MIT */
/*
 * --unroll cuts nothing where a loop ends earlier; a waiting loop needs no number.
 *
 * expect: pass 1
 * options: --unroll 3
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *waiter(void *arg)
{
    while (atomic_load_explicit(&x, memory_order_acquire) < 3)
        ;
    return arg;
}

static void *counter(void *arg)
{
    for (int i = 0; i < 3; i++)
        atomic_fetch_add_explicit(&x, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, waiter, NULL);
    pthread_create(&u, NULL, counter, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

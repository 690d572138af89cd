/* SPDX-License-Identifier: MIT */
/*
 * A counter with compare-exchange is lock-free: whichever thread is stopped, the others finish.
 *
 * expect: pass 2
 * options: --stop-threads
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *body(void *arg)
{
    int old = atomic_load(&x);
    while (!atomic_compare_exchange_weak(&x, &old, old + 1))
        ;
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, body, NULL);
    pthread_create(&u, NULL, body, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

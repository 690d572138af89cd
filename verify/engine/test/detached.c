/* SPDX-License-Identifier: MIT */
/*
 * The process ends when main returns, with what detached threads wait for.
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *run(void *arg)
{
    while (!atomic_load_explicit(&x, memory_order_acquire))
        ;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_detach(t);
    return 0;
}

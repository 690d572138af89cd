/* SPDX-License-Identifier: MIT */
/*
 * A loop that ends when a choice decides so does not wait forever, even if no other thread is left.
 *
 * expect: pass
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *waiter(void *arg)
{
    while (!atomic_load_explicit(&x, memory_order_relaxed) && !explore_choose(2))
        ;
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, waiter, NULL);
    pthread_join(t, NULL);
    return 0;
}

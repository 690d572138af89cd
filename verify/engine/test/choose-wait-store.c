/* SPDX-License-Identifier: MIT */
/*
 * A choice in the body of a loop that waits for a store.
 *
 * expect: pass
 */
#include <lade_explore.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int x;

static void *waiter(void *arg)
{
    while (!atomic_load_explicit(&x, memory_order_acquire))
        if (explore_choose(2))
            sched_yield();
    return arg;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, waiter, NULL);
    pthread_create(&u, NULL, storer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

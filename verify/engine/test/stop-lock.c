/* SPDX-License-Identifier: MIT */
/*
 * A spin lock is not lock-free: a thread that is stopped inside blocks the other.
 *
 * expect: error blocking
 * options: --stop-threads
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int lock;
static int x;

static void *body(void *arg)
{
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        while (atomic_load_explicit(&lock, memory_order_relaxed))
            ;
    x++;
    atomic_store_explicit(&lock, 0, memory_order_release);
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

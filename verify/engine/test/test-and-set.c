/* SPDX-License-Identifier: MIT */
/*
 * A test-and-set lock waits by writing back what it reads.
 *
 * expect: pass 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int lock;
static int x;

static void *body(void *arg)
{
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
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
    assert(x == 2);
    return 0;
}

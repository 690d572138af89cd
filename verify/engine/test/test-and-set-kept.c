/* SPDX-License-Identifier: MIT */
/*
 * A test-and-set lock that is never given back.
 *
 * expect: error livelock
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

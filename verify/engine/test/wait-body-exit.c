/* SPDX-License-Identifier: MIT */
/*
 * A failed iteration loads data, the loop ends, and only then the other thread stores to data. It has seen the change, but
 * relaxed: an iteration that fails must also be followed by one that succeeds.
 *
 * expect: error race 19 28
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int asked, answered;
static int data;

static void *storer(void *arg)
{
    atomic_store_explicit(&asked, 1, memory_order_release);
    while (!atomic_load_explicit(&answered, memory_order_relaxed))
        ;
    data = 5;
    return arg;
}

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&asked, memory_order_acquire))
        seen = data;
    (void)seen;
    atomic_store_explicit(&answered, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, storer, NULL);
    pthread_create(&u, NULL, waiter, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Two waiting loops one after the other, whose iterations are kept, as always with several processes: one of the two may be
 * kept, and the other one blocks as before.
 *
 * expect: pass 1
 * options: -j 2 --max-events 40
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int data;

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire))
        seen = data;
    while (!atomic_load_explicit(&y, memory_order_acquire))
        seen = data;
    (void)seen;
    return arg;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    atomic_store_explicit(&y, 1, memory_order_release);
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

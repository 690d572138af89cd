/* SPDX-License-Identifier: MIT */
/*
 * An iteration that is taken back must take back when it loaded data: the store comes after the loop in any case.
 *
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, z;
static int data;

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire)) {
        (void)atomic_load_explicit(&y, memory_order_relaxed);
        seen = data;
    }
    (void)seen;
    atomic_store_explicit(&z, 1, memory_order_release);
    return arg;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    while (!atomic_load_explicit(&z, memory_order_acquire))
        ;
    data = 5;
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

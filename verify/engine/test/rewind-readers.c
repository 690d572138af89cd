/* SPDX-License-Identifier: MIT */
/*
 * Two threads load data while they wait, and a third has loaded it before: what is taken back is one thread's part of the
 * set of readers.
 *
 * expect: pass
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, left = 3;
static int data;

static void *early(void *arg)
{
    int seen = data;

    (void)seen;
    atomic_fetch_sub_explicit(&left, 1, memory_order_release);
    return arg;
}

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire)) {
        (void)atomic_load_explicit(&y, memory_order_relaxed);
        seen = data;
    }
    (void)seen;
    atomic_fetch_sub_explicit(&left, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, early, NULL);
    pthread_create(&t[1], NULL, waiter, NULL);
    pthread_create(&t[2], NULL, waiter, NULL);
    atomic_store_explicit(&x, 1, memory_order_release);
    while (atomic_load_explicit(&left, memory_order_acquire))
        ;
    data = 5;
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Two threads have loaded data when a third one loads it while it waits: what is taken back is one thread's part of the set of
 * readers.
 *
 * expect: pass
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y, ended[3];
static int data;

static void *early(void *arg)
{
    int seen = data;

    (void)seen;
    atomic_store_explicit((atomic_int *)arg, 1, memory_order_release);
    return NULL;
}

static void *waiter(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire)) {
        (void)atomic_load_explicit(&y, memory_order_relaxed);
        seen = data;
    }
    (void)seen;
    atomic_store_explicit((atomic_int *)arg, 1, memory_order_release);
    return NULL;
}

static void *storer(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    for (int i = 0; i < 3; i++)
        while (!atomic_load_explicit(&ended[i], memory_order_acquire))
            ;
    data = 5;
    return arg;
}

int main(void)
{
    pthread_t t[4];

    pthread_create(&t[0], NULL, early, &ended[0]);
    pthread_create(&t[1], NULL, early, &ended[1]);
    pthread_create(&t[2], NULL, waiter, &ended[2]);
    pthread_create(&t[3], NULL, storer, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}

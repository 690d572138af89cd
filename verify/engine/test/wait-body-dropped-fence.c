/* SPDX-License-Identifier: MIT */
/*
 * As wait-body-dropped, with a fence behind the load.
 *
 * expect: error race 33 24
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int data;

static void *set(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_release);
    return arg;
}

static void *wait(void *arg)
{
    int seen = 0;

    while (!atomic_load_explicit(&x, memory_order_acquire)) {
        seen = data;
        atomic_thread_fence(memory_order_acquire);
    }
    (void)seen;
    return arg;
}

static void *put(void *arg)
{
    data = 5;
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, set, NULL);
    pthread_create(&t[1], NULL, wait, NULL);
    pthread_create(&t[2], NULL, put, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

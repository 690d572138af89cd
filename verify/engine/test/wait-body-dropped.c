/* SPDX-License-Identifier: MIT */
/*
 * The body of a waiting loop loads what a third thread stores. The loop first runs after x is set, so that its failed
 * iteration reads an old value: the run must not be dropped before the third thread has stored.
 *
 * expect: error race 32 25
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

    while (!atomic_load_explicit(&x, memory_order_acquire))
        seen = data;
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

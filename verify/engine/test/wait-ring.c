/* SPDX-License-Identifier: MIT */
/*
 * Each thread waits for another one.
 *
 * expect: error livelock
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x[N];

static void *run(void *arg)
{
    intptr_t id = (intptr_t)arg;

    while (!atomic_load_explicit(&x[(id + 1) % N], memory_order_acquire))
        ;
    atomic_store_explicit(&x[id], 1, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}

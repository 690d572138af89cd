/* SPDX-License-Identifier: MIT */
/*
 * Each thread waits for the next one, the last first.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 4 };
static atomic_int turn = N - 1;
static int data;

static void *run(void *arg)
{
    while (atomic_load_explicit(&turn, memory_order_acquire) != (int)(intptr_t)arg)
        ;
    data++;
    atomic_store_explicit(&turn, (int)(intptr_t)arg - 1, memory_order_release);
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

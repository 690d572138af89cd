/* SPDX-License-Identifier: MIT */
/*
 * Every order of tickets is tried, and each once.
 *
 * expect: pass 24
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 4 };
static atomic_int next, served;
static int data;

static void *run(void *arg)
{
    int mine = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);

    while (atomic_load_explicit(&served, memory_order_acquire) != mine)
        ;
    data++;
    atomic_store_explicit(&served, mine + 1, memory_order_release);
    return arg;
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

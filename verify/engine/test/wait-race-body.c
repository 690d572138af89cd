/* SPDX-License-Identifier: MIT */
/*
 * A plain load in a loop that waits, and a store that comes before what it waits for.
 *
 * expect: error race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 2 };
static atomic_int x;
static int data;

static void *run(void *arg)
{
    int seen = 0;

    if ((intptr_t)arg == 0) {
        while (!atomic_load_explicit(&x, memory_order_acquire))
            seen = data;
    } else {
        data = 1;
        atomic_store_explicit(&x, 1, memory_order_release);
    }
    (void)seen;
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

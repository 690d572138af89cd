/* SPDX-License-Identifier: MIT */
/*
 * The value that the loop waits for is overwritten: it may miss it, and waits forever.
 *
 * expect: error livelock
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 2 };
static atomic_int x;

static void *run(void *arg)
{
    if ((intptr_t)arg == 0) {
        while (atomic_load_explicit(&x, memory_order_relaxed) != 1)
            ;
    } else {
        atomic_store_explicit(&x, 1, memory_order_relaxed);
        atomic_store_explicit(&x, 2, memory_order_relaxed);
    }
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

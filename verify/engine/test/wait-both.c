/* SPDX-License-Identifier: MIT */
/*
 * A loop that waits for two locations, whose writers run before and after it.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x[N];

static void *run(void *arg)
{
    int id = (int)(intptr_t)arg, a, b;

    if (id == 1)
        do {
            a = atomic_load_explicit(&x[0], memory_order_relaxed);
            b = atomic_load_explicit(&x[2], memory_order_relaxed);
        } while (!a || !b);
    atomic_store_explicit(&x[id], 1, memory_order_relaxed);
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

/* SPDX-License-Identifier: MIT */
/*
 * A loop may leave with any of the values that it waits for, also with one that is old by then.
 *
 * expect: pass 8
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 4 };
static atomic_int x;

static void *run(void *arg)
{
    if ((intptr_t)arg < 2)
        while (!atomic_load_explicit(&x, memory_order_relaxed))
            ;
    else
        atomic_store_explicit(&x, (int)(intptr_t)arg, memory_order_relaxed);
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

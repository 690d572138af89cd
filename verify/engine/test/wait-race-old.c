/* SPDX-License-Identifier: MIT */
/*
 * The loop is known to wait at the old value when an execution comes in which reading it is a race.
 *
 * expect: error race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x, y;

static void *run(void *arg)
{
    if ((intptr_t)arg == 0) {
        atomic_store_explicit(&y, 1, memory_order_relaxed);
    } else if ((intptr_t)arg == 1) {
        if (!atomic_load_explicit(&y, memory_order_relaxed))
            *(int *)&x = 0;
        atomic_store_explicit(&x, 1, memory_order_release);
    } else {
        while (atomic_load_explicit(&x, memory_order_acquire) != 1)
            ;
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

/* SPDX-License-Identifier: MIT */
/*
 * Where an assumption fails, another thread may wait for what never comes: no livelock.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static atomic_int x, y;
void __VERIFIER_assume(int);

static void *run(void *arg)
{
    if ((intptr_t)arg == 0) {
        while (!atomic_load_explicit(&x, memory_order_relaxed))
            ;
    } else if ((intptr_t)arg == 2) {
        atomic_store_explicit(&y, 1, memory_order_relaxed);
    } else {
        __VERIFIER_assume(atomic_load_explicit(&y, memory_order_relaxed) == 1);
        atomic_store_explicit(&x, 1, memory_order_relaxed);
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

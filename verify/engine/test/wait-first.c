/* SPDX-License-Identifier: MIT */
/*
 * A waiting loop that runs before there is anything to wait for.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 2 };
static atomic_int flag;
static int data;

static void *run(void *arg)
{
    if ((intptr_t)arg == 1) {
        data = 1;
        atomic_store_explicit(&flag, 1, memory_order_release);
    } else {
        while (!atomic_load_explicit(&flag, memory_order_acquire))
            ;
        assert(data == 1);
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

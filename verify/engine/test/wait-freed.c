/* SPDX-License-Identifier: MIT */
/*
 * What a loop waits for is freed.
 *
 * expect: error use-after-free
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { N = 2 };
static atomic_int *x;

static void *run(void *arg)
{
    if ((intptr_t)arg == 0) {
        while (atomic_load_explicit(x, memory_order_acquire) != 1)
            ;
    } else {
        free(x);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    x = malloc(sizeof *x);
    atomic_init(x, 0);
    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, run, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A loop that outgrows the bound on events is reported, and is no pass.
 *
 * expect: bound
 * options: --max-events 20
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *t1(void *arg)
{
    (void)arg;
    for (int i = 0; i < 40; i++)
        atomic_store_explicit(&x, i, memory_order_relaxed);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    ;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

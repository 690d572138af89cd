/* SPDX-License-Identifier: MIT */
/*
 * An atomic store and a plain load of the same location.
 *
 * expect: error race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int x;

static void *t1(void *arg)
{
    (void)arg;
    __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    if (x)
        abort();
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

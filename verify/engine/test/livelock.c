/* SPDX-License-Identifier: MIT */
/*
 * A waiting loop that no thread releases.
 *
 * expect: error livelock
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int flag;

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&flag, 2);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    while (atomic_load(&flag) != 1)
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

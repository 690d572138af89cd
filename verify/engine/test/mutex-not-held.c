/* SPDX-License-Identifier: MIT */
/*
 * Unlock of a mutex that the thread does not hold.
 *
 * expect: error mutex
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *t1(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&m);
    x = 1;
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    pthread_mutex_unlock(&m);
    (void)n;
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

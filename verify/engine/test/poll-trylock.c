/* SPDX-License-Identifier: MIT */
/*
 * A try-lock sees that the mutex is taken by an iteration that is otherwise without effect: nothing is claimed.
 *
 * expect: bound
 * options: --unroll 3
 * says: a loop polls behind a mutex
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int full, busy;

static void *get(void *arg)
{
    int ok;

    do {
        pthread_mutex_lock(&m);
        ok = full;
        pthread_mutex_unlock(&m);
    } while (!ok);
    return arg;
}

static void *put(void *arg)
{
    pthread_mutex_lock(&m);
    full = 1;
    pthread_mutex_unlock(&m);
    busy = pthread_mutex_trylock(&m);
    if (!busy)
        pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, get, NULL);
    pthread_create(&u, NULL, put, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

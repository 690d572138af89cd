/* SPDX-License-Identifier: MIT */
/*
 * The body of a poll loads data outside of the mutex, and the other thread stores to it there.
 *
 * expect: error race 14 29
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int full, data;

static void *put(void *arg)
{
    data = 5;
    pthread_mutex_lock(&m);
    full = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *get(void *arg)
{
    int ok, seen = 0;

    do {
        pthread_mutex_lock(&m);
        ok = full;
        pthread_mutex_unlock(&m);
        seen = data;
    } while (!ok);
    (void)seen;
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

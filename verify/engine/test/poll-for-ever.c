/* SPDX-License-Identifier: MIT */
/*
 * No thread sets what the loop polls for.
 *
 * expect: error livelock
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int full;

static void *put(void *arg)
{
    pthread_mutex_lock(&m);
    full = 2;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *get(void *arg)
{
    int now;

    do {
        pthread_mutex_lock(&m);
        now = full;
        pthread_mutex_unlock(&m);
    } while (now != 1);
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

/* SPDX-License-Identifier: MIT */
/*
 * A consumer polls a slot behind a mutex.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int full, item;

static void *put(void *arg)
{
    pthread_mutex_lock(&m);
    item = 7;
    full = 1;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *get(void *arg)
{
    int ok, v = 0;

    do {
        pthread_mutex_lock(&m);
        ok = full;
        if (ok)
            v = item;
        pthread_mutex_unlock(&m);
    } while (!ok);
    assert(v == 7);
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

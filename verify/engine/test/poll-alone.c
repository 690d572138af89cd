/* SPDX-License-Identifier: MIT */
/*
 * A poll of an atomic flag, set outside of the mutex.
 *
 * expect: pass
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int go;

static void *get(void *arg)
{
    int ok;

    do {
        pthread_mutex_lock(&m);
        ok = atomic_load_explicit(&go, memory_order_relaxed);
        pthread_mutex_unlock(&m);
    } while (!ok);
    return arg;
}

static void *put(void *arg)
{
    atomic_store_explicit(&go, 1, memory_order_relaxed);
    pthread_mutex_lock(&m);
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

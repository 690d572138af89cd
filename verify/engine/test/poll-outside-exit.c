/* SPDX-License-Identifier: MIT */
/*
 * The body of a poll loads data outside of the mutex. The store comes after the poll has ended, and is not ordered.
 *
 * expect: error race 20 34
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended;
static int full, data;

static void *put(void *arg)
{
    pthread_mutex_lock(&m);
    full = 1;
    pthread_mutex_unlock(&m);
    if (atomic_load_explicit(&ended, memory_order_relaxed))
        data = 5;
    return arg;
}

static void *get(void *arg)
{
    int ok, seen = 0;

    for (;;) {
        pthread_mutex_lock(&m);
        ok = full;
        pthread_mutex_unlock(&m);
        if (ok)
            break;
        seen = data;
    }
    (void)seen;
    atomic_store_explicit(&ended, 1, memory_order_relaxed);
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

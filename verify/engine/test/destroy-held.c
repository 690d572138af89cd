/* SPDX-License-Identifier: MIT */
/*
 * The mutex is destroyed when the flag is seen, but the flag does not order the unlock before that.
 * expect: error mutex
 * says: a mutex is destroyed while it is held
 */
#include <pthread.h>
#include <stdatomic.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int unlocked;

static void *run(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    atomic_store_explicit(&unlocked, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    if (atomic_load_explicit(&unlocked, memory_order_relaxed))
        pthread_mutex_destroy(&m);
    pthread_join(t, NULL);
    return 0;
}

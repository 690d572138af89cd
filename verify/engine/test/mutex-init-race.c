/* SPDX-License-Identifier: MIT */
/*
 * The mutex is initialised although nothing orders the last unlock before that.
 * expect: error race
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
        pthread_mutex_init(&m, NULL);
    pthread_join(t, NULL);
    return 0;
}

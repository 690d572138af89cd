/* SPDX-License-Identifier: MIT */
/*
 * Each mutex is destroyed once, and runs that replay the graph find the event of that in it already.
 * expect: pass 2
 */
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>
static atomic_int x;

static void *run(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    static pthread_mutex_t never_locked, locked = PTHREAD_MUTEX_INITIALIZER;
    static mtx_t other;
    pthread_t t;
    pthread_mutex_init(&never_locked, NULL);
    pthread_mutex_destroy(&never_locked);
    pthread_mutex_lock(&locked);
    pthread_mutex_unlock(&locked);
    pthread_mutex_destroy(&locked);
    mtx_init(&other, mtx_plain);
    mtx_destroy(&other);
    mtx_init(&other, mtx_plain);
    pthread_create(&t, NULL, run, NULL);
    mtx_lock(&other);
    atomic_load_explicit(&x, memory_order_relaxed);
    mtx_unlock(&other);
    mtx_destroy(&other);
    pthread_join(t, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A waiting loop, a mutex and a condition variable that are right: the search waits instead of running the loop, finds
 * nothing, and does not call that a pass.
 *
 * options: --search --seconds 60 --max-executions 500
 * expect: nothing-found
 * says: verdict: nothing found
 * silent: pass
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static int data, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *sender(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return arg;
}

static void *receiver(void *arg)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        ;
    assert(data == 42);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t s, r;

    pthread_create(&r, NULL, receiver, NULL);
    pthread_create(&s, NULL, sender, NULL);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Lost wake-up: the condition changes, and the signal comes, between the check and the wait.
 *
 * expect: error deadlock
 * says: woke no thread
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int ready;

static void *t1(void *arg)
{
    pthread_mutex_lock(&m);
    while (!atomic_load(&ready))
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *t2(void *arg)
{
    atomic_store(&ready, 1); /* without the mutex */
    pthread_cond_signal(&c);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

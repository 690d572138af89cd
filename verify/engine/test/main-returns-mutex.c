/* SPDX-License-Identifier: MIT */
/*
 * Main returns and does not join the thread. It has the mutex before main or after main, to its end; that it still waits when
 * main has unlocked is not a separate execution.
 * expect: pass 2
 */
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *arg)
{
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, lock, NULL);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return 0;
}

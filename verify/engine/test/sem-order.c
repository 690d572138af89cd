/* SPDX-License-Identifier: MIT */
/*
 * Two semaphores, taken in opposite order.
 *
 * expect: error deadlock
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t s, t;

static void *t1(void *arg)
{
    sem_wait(&s);
    sem_wait(&t);
    sem_post(&t);
    sem_post(&s);
    return arg;
}

static void *t2(void *arg)
{
    sem_wait(&t);
    sem_wait(&s);
    sem_post(&s);
    sem_post(&t);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 1);
    sem_init(&t, 0, 1);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

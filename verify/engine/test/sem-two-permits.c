/* SPDX-License-Identifier: MIT */
/*
 * A semaphore with two permits excludes no thread.
 *
 * expect: error race
 */
#include <pthread.h>
#include <semaphore.h>

static sem_t s;
static int n;

static void *t1(void *arg)
{
    sem_wait(&s);
    n++;
    sem_post(&s);
    return arg;
}

static void *t2(void *arg)
{
    sem_wait(&s);
    n++;
    sem_post(&s);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&s, 0, 2);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A post comes before the wait that it permits; none is lost.
 *
 * expect: pass
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t filled, emptied;
static int value;

static void *t1(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        sem_wait(&emptied);
        value = i;
        sem_post(&filled);
    }
    return arg;
}

static void *t2(void *arg)
{
    for (int i = 1; i <= 2; i++) {
        sem_wait(&filled);
        assert(value == i);
        sem_post(&emptied);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    sem_init(&filled, 0, 0);
    sem_init(&emptied, 0, 1);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

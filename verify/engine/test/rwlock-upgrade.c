/* SPDX-License-Identifier: MIT */
/*
 * A thread that holds the lock for reading and asks for writing waits for itself.
 *
 * expect: error deadlock
 * says: waits for itself
 */
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int x;

static void *t1(void *arg)
{
    pthread_rwlock_rdlock(&l);
    if (!x) {
        pthread_rwlock_wrlock(&l);
        x = 1;
        pthread_rwlock_unlock(&l);
    }
    pthread_rwlock_unlock(&l);
    return arg;
}

static void *t2(void *arg)
{
    pthread_rwlock_rdlock(&l);
    pthread_rwlock_unlock(&l);
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

/* SPDX-License-Identifier: MIT */
/*
 * Two locks: each thread reads one and wants to write the other.
 *
 * expect: error deadlock
 */
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER, k = PTHREAD_RWLOCK_INITIALIZER;

static void *t1(void *arg)
{
    pthread_rwlock_rdlock(&l);
    pthread_rwlock_wrlock(&k);
    pthread_rwlock_unlock(&k);
    pthread_rwlock_unlock(&l);
    return arg;
}

static void *t2(void *arg)
{
    pthread_rwlock_rdlock(&k);
    pthread_rwlock_wrlock(&l);
    pthread_rwlock_unlock(&l);
    pthread_rwlock_unlock(&k);
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

/* SPDX-License-Identifier: MIT */
/*
 * Readers may come first again and again: a writer that starves is no error.
 *
 * expect: pass
 */
#include <assert.h>
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int x, stop;

static void *t1(void *arg)
{
    for (int done = 0; !done;) {
        pthread_rwlock_rdlock(&l);
        done = stop;
        pthread_rwlock_unlock(&l);
    }
    return arg;
}

static void *t2(void *arg)
{
    pthread_rwlock_wrlock(&l);
    stop = 1;
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
    assert(stop && !x);
    return 0;
}

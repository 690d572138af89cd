/* SPDX-License-Identifier: MIT */
/*
 * A wait with a deadline may time out, so no thread has to signal; and the caller must check.
 *
 * expect: weaker
 * says: the clock stands still
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, late;

static void *t1(void *arg)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    pthread_mutex_lock(&m);
    while (!ready && pthread_cond_timedwait(&c, &m, &end) != ETIMEDOUT)
        ;
    late = !ready;
    pthread_mutex_unlock(&m);
    return arg;
}

static void *t2(void *arg)
{
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(ready);
    return 0;
}

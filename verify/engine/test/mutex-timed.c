/* SPDX-License-Identifier: MIT */
/*
 * A lock with a deadline may time out, but only while the mutex is taken.
 *
 * expect: pass 3
 */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int taken, late;

static void *t1(void *arg)
{
    struct timespec end = {.tv_sec = 1};
    if (pthread_mutex_timedlock(&m, &end) == 0) {
        taken++;
        pthread_mutex_unlock(&m);
    } else {
        late = 1;
    }
    return arg;
}

static void *t2(void *arg)
{
    pthread_mutex_lock(&m);
    taken++;
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
    assert(taken + late == 2);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A barrier that was destroyed may be initialised again, for another number of threads; so may one that lies where a
 * returned function had another.
 * expect: pass
 */
#include <assert.h>
#include <pthread.h>
static pthread_barrier_t b;
static int x;

static void *run(void *arg)
{
    x = 1;
    pthread_barrier_wait(&b);
    return arg;
}

static void local(void)
{
    pthread_barrier_t own;
    pthread_barrier_init(&own, NULL, 1);
    assert(pthread_barrier_wait(&own) == PTHREAD_BARRIER_SERIAL_THREAD);
}

int main(void)
{
    pthread_barrier_init(&b, NULL, 1);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        x = 0;
        pthread_barrier_init(&b, NULL, 2);
        pthread_create(&t, NULL, run, NULL);
        pthread_barrier_wait(&b);
        assert(x == 1);
        pthread_join(t, NULL);
        pthread_barrier_destroy(&b);
    }
    local();
    local();
    return 0;
}

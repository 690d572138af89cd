/* SPDX-License-Identifier: MIT */
/*
 * No thread passes a barrier before all have come.
 *
 * expect: pass 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_barrier_t b;
static int x;

static void *t1(void *arg)
{
    (void)arg;
    x = 1;
    pthread_barrier_wait(&b);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&b);
    assert(x == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_barrier_init(&b, NULL, 2);
    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

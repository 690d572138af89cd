/* SPDX-License-Identifier: MIT */
/*
 * Each thread has its own copy of a thread-local variable.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Thread_local int x = 5;

static void *t1(void *arg)
{
    (void)arg;
    x++;
    assert(x == 6);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    x += 2;
    assert(x == 7);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert(x == 5);
    return 0;
}

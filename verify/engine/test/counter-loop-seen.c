/* SPDX-License-Identifier: MIT */
/*
 * And all of its iterations are tried.
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&x, 1);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    int tries = 0;
    while (!atomic_load(&x) && tries < 3)
        tries++;
    assert(tries < 3);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

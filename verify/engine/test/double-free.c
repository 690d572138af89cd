/* SPDX-License-Identifier: MIT */
/*
 * A second free of a block that was never touched (GenMC misses it).
 *
 * expect: error double-free
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static void *p;

static void *t1(void *arg)
{
    (void)arg;
    free(p);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    ;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    p = malloc(8);
    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    free(p);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * One thread frees what another still reads.
 *
 * expect: error use-after-free
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int *p;

static void *t1(void *arg)
{
    (void)arg;
    free(p);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    (void)(*p == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    p = malloc(sizeof *p);
    *p = 1;
    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

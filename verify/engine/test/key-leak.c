/* SPDX-License-Identifier: MIT */
/*
 * Without a destructor the value is lost.
 *
 * expect: error leak
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t k;

static void *t1(void *arg)
{
    pthread_setspecific(k, malloc(4));
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_key_create(&k, NULL);
    pthread_create(&a, NULL, t1, NULL);
    pthread_join(a, NULL);
    return 0;
}

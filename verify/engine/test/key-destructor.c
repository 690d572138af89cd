/* SPDX-License-Identifier: MIT */
/*
 * A thread's value goes to the destructor when the thread ends.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_key_t k;
static int freed;

static void end(void *p)
{
    free(p);
    freed++;
}

static void *t1(void *arg)
{
    assert(!pthread_getspecific(k));
    pthread_setspecific(k, malloc(4));
    assert(pthread_getspecific(k));
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_key_create(&k, end);
    pthread_create(&a, NULL, t1, NULL);
    pthread_join(a, NULL);
    assert(freed == 1);
    return 0;
}

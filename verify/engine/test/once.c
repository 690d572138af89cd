/* SPDX-License-Identifier: MIT */
/*
 * One thread initialises; the others wait for it, and see what it did.
 *
 * expect: pass 2
 */
#include <assert.h>
#include <pthread.h>

static pthread_once_t o = PTHREAD_ONCE_INIT;
static int x;

static void init(void)
{
    x++;
}

static void *t1(void *arg)
{
    pthread_once(&o, init);
    assert(x == 1);
    return arg;
}

static void *t2(void *arg)
{
    pthread_once(&o, init);
    assert(x == 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

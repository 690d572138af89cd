/* SPDX-License-Identifier: MIT */
/*
 * A thread keeps the address of a thread-local variable in a local variable and in a thread-local one.
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>

static _Thread_local int mine;
static _Thread_local int *self;

static void *run(void *arg)
{
    int *p = &mine;
    self = p;
    *self = 1;
    assert(mine == 1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

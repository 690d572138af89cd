/* SPDX-License-Identifier: MIT */
/*
 * The last store of a thread is the address of its thread-local variable, which main accesses when the thread has ended.
 * expect: unsupported
 */
#include <pthread.h>

static _Thread_local int mine;
static int *where;

static void *run(void *arg)
{
    where = &mine;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    *where = 1;
    return 0;
}

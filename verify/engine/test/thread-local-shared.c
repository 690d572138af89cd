/* SPDX-License-Identifier: MIT */
/*
 * All threads' copies of a thread-local have one address here: it must not be handed out.
 * expect: unsupported
 */
#include <pthread.h>
#include <stdatomic.h>
static _Thread_local int mine;
static _Atomic(int *) where;

static void *run(void *arg)
{
    int *p = atomic_load(&where);
    if (p)
        *p = 1;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_store(&where, &mine);
    pthread_join(t, NULL);
    return mine == 7;
}

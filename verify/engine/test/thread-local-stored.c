/* SPDX-License-Identifier: MIT */
/*
 * The address of a thread-local variable goes to another thread by a plain store, which is ordered by an atomic one.
 * expect: unsupported
 * says: the address of a thread-local variable goes to other threads
 */
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int mine;
static int *where;
static atomic_int stored;

static void *run(void *arg)
{
    where = &mine;
    atomic_store(&stored, 1);
    mine = 5;
    return arg;
}

int main(void)
{
    pthread_t t;
    int seen = 0;
    pthread_create(&t, NULL, run, NULL);
    if (atomic_load(&stored))
        seen = *where;
    pthread_join(t, NULL);
    return seen == 7;
}

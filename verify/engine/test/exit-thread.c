/* SPDX-License-Identifier: MIT */
/*
 * A thread ends the process: a thread that joins it does not come back. The other one may be done before.
 * expect: pass 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int x;

static void *finish(void *arg)
{
    atomic_load_explicit(&x, memory_order_relaxed);
    exit(0);
    return arg;
}

static void *run(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    pthread_create(&t, NULL, finish, NULL);
    pthread_create(&u, NULL, run, NULL);
    pthread_join(u, NULL);
    pthread_join(t, NULL);
    assert(!"reached");
}

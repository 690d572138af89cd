/* SPDX-License-Identifier: MIT */
/*
 * A thread uses a local variable of a function that has returned.
 *
 * expect: error use-after-free
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic(int *) shared;

static void publish(void)
{
    int local = 1;
    atomic_store(&shared, &local);
}

static void *body(void *arg)
{
    int *p = atomic_load(&shared);
    if (p)
        *p = 2;
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, body, NULL);
    publish();
    pthread_join(t, NULL);
    return 0;
}

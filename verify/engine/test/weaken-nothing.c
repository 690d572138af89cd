/* SPDX-License-Identifier: MIT */
/*
 * A line that no execution comes to cannot be weakened: the result would mean nothing.
 *
 * expect: exit 2
 * options: --weaken weaken-nothing.c:18=relaxed
 * says: no atomic call at weaken-nothing.c:18 was executed
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *run(void *arg)
{
    int seen = atomic_load(&x);
    if (seen == 2)
        atomic_store(&x, 3);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_store(&x, 1);
    pthread_join(t, NULL);
    return 0;
}

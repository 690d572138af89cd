/* SPDX-License-Identifier: MIT */
/*
 * A loop that makes progress forever is cut at the number that --unroll gives, and named.
 *
 * expect: bound
 * options: --unroll 5
 * says: wait-unroll.c:17 more than 5 times
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *count(void *arg)
{
    for (;;)
        atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, count, NULL);
    pthread_join(t, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A loop that counts in floating point does not wait.
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static double next(long double i)
{
    return (double)(i + 1);
}

static void *run(void *arg)
{
    double d = next(-1.0L);
    do {
        if (atomic_load_explicit(&x, memory_order_relaxed))
            return arg;
        d = next(d);
    } while ((long double)d < 3.0L);
    assert(0);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_join(t, NULL);
}

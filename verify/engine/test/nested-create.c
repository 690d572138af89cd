/* SPDX-License-Identifier: MIT */
/*
 * A thread that is created only in some executions, by another thread.
 *
 * expect: pass 3
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;
static int seen;

static void *inner(void *arg)
{
    seen = atomic_load_explicit(&y, memory_order_relaxed);
    return arg;
}

static void *outer(void *arg)
{
    pthread_t t;

    if (atomic_load_explicit(&x, memory_order_relaxed)) {
        pthread_create(&t, NULL, inner, NULL);
        pthread_join(t, NULL);
    }
    return arg;
}

static void *writer(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    atomic_store_explicit(&y, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, outer, NULL);
    pthread_create(&u, NULL, writer, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    assert(seen == 0 || seen == 1);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Message passing with a relaxed flag.
 *
 * error: race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static int data;

static void *t1(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return arg;
}

static void *t2(void *arg)
{
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        assert(data == 42);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

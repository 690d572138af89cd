/* SPDX-License-Identifier: MIT */
/*
 * Locals of different sizes lie at the same addresses, call after call: atomic ones, one that another thread used, mutexes,
 * and what a compare-exchange expects.
 * expect: pass 34
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *add(void *arg)
{
    atomic_fetch_add_explicit((atomic_int *)arg, 1, memory_order_relaxed);
    return NULL;
}

static int whole(void)
{
    atomic_int a;
    pthread_t t;
    atomic_init(&a, 1);
    pthread_create(&t, NULL, add, &a);
    int seen = atomic_fetch_add_explicit(&a, 1, memory_order_relaxed);
    pthread_join(t, NULL);
    assert(atomic_load_explicit(&a, memory_order_relaxed) == 3);
    return seen;
}

static int big(void)
{
    atomic_long b[4];
    for (int i = 0; i < 4; i++)
        atomic_init(&b[i], 1);
    return (int)(atomic_fetch_add_explicit(&b[0], 1, memory_order_relaxed) + b[3]);
}

static int half(void)
{
    atomic_short c[16];
    atomic_store_explicit(&c[0], 1, memory_order_relaxed); /* no plain store before */
    for (int i = 1; i < 16; i++)
        atomic_init(&c[i], 1);
    return atomic_fetch_add_explicit(&c[0], 1, memory_order_relaxed) + c[9];
}

static int locked(void)
{
    char pad[5];
    pthread_mutex_t m[2];
    pad[0] = 1;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&m[i], NULL);
        pthread_mutex_lock(&m[i]);
    }
    return pad[0];
}

static int expecting(void)
{
    int expected[8] = {5, 5, 5, 5, 5, 5, 5, 5};
    for (int i = 0; i < 8; i++)
        atomic_compare_exchange_strong_explicit(&x, &expected[i], 1, memory_order_relaxed, memory_order_relaxed);
    return expected[0];
}

static void *run(void *arg)
{
    for (int i = 0; i < 2; i++) {
        assert(big() == 2);
        assert(half() == 2);
        assert(locked() == 1);
        assert(expecting() >= 0);
    }
    return arg;
}

static void *set(void *arg)
{
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;
    int seen = whole();
    assert(seen == 1 || seen == 2);
    assert(big() == 2 && half() == 2 && locked() == 1 && expecting() == 0);
    pthread_create(&t, NULL, run, NULL);
    pthread_create(&u, NULL, set, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

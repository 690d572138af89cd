/* SPDX-License-Identifier: MIT */
/*
 * psc: without a step to another location there is no order (herd7: sometimes).
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int plain, a, c;

static void *first(void *arg)
{
    atomic_store(&x, 1);
    (void)plain;
    atomic_store_explicit(&x, 2, memory_order_release);
    return arg;
}

static void *second(void *arg)
{
    a = atomic_load_explicit(&x, memory_order_acquire);
    atomic_store(&y, 1);
    return arg;
}

static void *third(void *arg)
{
    atomic_store(&y, 2);
    c = atomic_load(&x);
    return arg;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, first, NULL);
    pthread_create(&t[1], NULL, second, NULL);
    pthread_create(&t[2], NULL, third, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(!(a == 2 && c == 0 && atomic_load_explicit(&y, memory_order_relaxed) == 2) && plain < 2);
}

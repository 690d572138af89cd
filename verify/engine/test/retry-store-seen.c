/* SPDX-License-Identifier: MIT */
/*
 * A retry stores to shared memory, plainly, what another thread loads.
 *
 * expect: error race 30 19
 */
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;
static int last;

static void *add(void *arg)
{
    int old;

    do {
        old = atomic_load_explicit(&x, memory_order_relaxed);
        last = old;
    } while (!atomic_compare_exchange_strong_explicit(&x, &old, old + 2, memory_order_release, memory_order_relaxed));
    return arg;
}

static void *other(void *arg)
{
    int seen = 0;

    atomic_store_explicit(&x, 1, memory_order_relaxed);
    if (atomic_load_explicit(&x, memory_order_relaxed) == 3)
        seen = last;
    (void)seen;
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, add, NULL);
    pthread_create(&u, NULL, other, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

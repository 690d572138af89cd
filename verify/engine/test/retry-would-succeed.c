/* SPDX-License-Identifier: MIT */
/*
 * A compare-exchange fails, and a later load reads what it had expected. Had the compare-exchange read that, it would not
 * have failed: no execution without the load is like this one.
 *
 * expect: error assertion 35
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static atomic_int x, missed;

static void *taker(void *unused)
{
    int seen = 0;
    bool taken = atomic_compare_exchange_strong_explicit(&x, &seen, 1, memory_order_relaxed, memory_order_relaxed);

    while (!taken && seen == 5)
        seen = atomic_load_explicit(&x, memory_order_relaxed);
    atomic_store_explicit(&missed, !taken && seen == 0, memory_order_relaxed);
    return unused;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, taker, NULL);
    atomic_store_explicit(&x, 5, memory_order_relaxed);
    atomic_store_explicit(&x, 0, memory_order_relaxed);
    pthread_join(t, NULL);
    assert(!atomic_load_explicit(&missed, memory_order_relaxed));
    return 0;
}

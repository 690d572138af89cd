/* SPDX-License-Identifier: MIT */
/*
 * A deque of Chase and Lev with one element, without its fences: owner and thief both take it.
 *
 * error: assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int top, bottom = 1, taken;

static void *t1(void *arg) /* the owner takes */
{
    int b = atomic_load_explicit(&bottom, memory_order_relaxed) - 1;
    atomic_store_explicit(&bottom, b, memory_order_relaxed);
    int t = atomic_load_explicit(&top, memory_order_relaxed);
    if (t < b || (t == b && atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_relaxed, memory_order_relaxed)))
        atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    return arg;
}

static void *t2(void *arg) /* a thief steals twice */
{
    for (int i = 0; i < 2; i++) {
        int t = atomic_load_explicit(&top, memory_order_acquire);
        if (t < atomic_load_explicit(&bottom, memory_order_acquire) &&
            atomic_compare_exchange_strong_explicit(&top, &t, t + 1, memory_order_relaxed, memory_order_relaxed))
            atomic_fetch_add_explicit(&taken, 1, memory_order_relaxed);
    }
    return arg;
}

int main(void)
{
    pthread_t a, b;
    atomic_store_explicit(&bottom, 2, memory_order_relaxed);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(taken <= 2);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A retry that stores what a success at once does not store: the memory differs, so it is not left out.
 *
 * expect: error assertion 34
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int x;
static int failed;

static void *adder(void *marks)
{
    int seen = atomic_load_explicit(&x, memory_order_relaxed);

    while (!atomic_compare_exchange_strong_explicit(&x, &seen, seen + 1, memory_order_relaxed, memory_order_relaxed))
        if (marks)
            failed = 1;
    return NULL;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, adder, &x);
    pthread_create(&u, NULL, adder, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    assert(atomic_load_explicit(&x, memory_order_relaxed) == 2);
    assert(!failed);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The place that one of two values leads to is reached, and reported.
 *
 * expect: pass 2
 * says: covered: new value
 * silent: covered: other
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *reader(void *unused)
{
    int seen = atomic_load_explicit(&x, memory_order_relaxed);
    if (seen == 1)
        explore_cover("new value");
    else if (seen)
        explore_cover("other");
    return unused;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, reader, NULL);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_join(t, NULL);
    return 0;
}

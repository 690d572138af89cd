/* SPDX-License-Identifier: MIT */
/*
 * Names that several processes have reached are added up.
 *
 * expect: pass 2
 * says: covered: new value
 * options: --jobs 2
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
        explore_cover("never");
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

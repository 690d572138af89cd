/* SPDX-License-Identifier: MIT */
/*
 * A store revisits a load, and the choice after the load goes with it: no execution comes twice. Whatever the load reads,
 * its thread's choice has both values; where it reads 0, so has the storer's.
 *
 * expect: pass 8
 * options: --outcomes
 * says: outcome: 21 (1 execution)
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int x;

static void *load(void *arg)
{
    int seen = atomic_load_explicit(&x, memory_order_relaxed), choice = explore_choose(2);

    printf("%d%d ", seen, choice);
    return arg;
}

static void *store(void *arg)
{
    atomic_store_explicit(&x, 1 + explore_choose(2), memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, load, NULL);
    pthread_create(&u, NULL, store, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

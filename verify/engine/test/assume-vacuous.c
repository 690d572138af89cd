/* SPDX-License-Identifier: MIT */
/*
 * No execution gets past the assumption, so that nothing has been shown.
 * expect: vacuous 0
 * says: no execution completed: every one failed an assume
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include "lade_explore.h"
static atomic_int x;

static void *run(void *arg)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    __VERIFIER_assume(atomic_load_explicit(&x, memory_order_relaxed) == 2);
    assert(!"reached");
}

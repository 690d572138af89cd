/* SPDX-License-Identifier: MIT */
/*
 * Initialisation is no atomic operation.
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *run(void *arg)
{
    atomic_init(&x, 1);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    atomic_load_explicit(&x, memory_order_relaxed);
    pthread_join(t, NULL);
    return 0;
}

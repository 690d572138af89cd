/* SPDX-License-Identifier: MIT */
/*
 * Two threads join each other. Main leaves without ending the process.
 * expect: error deadlock
 */
#include <pthread.h>
#include <stdatomic.h>
static pthread_t t[2];
static atomic_int ready;

static void *run(void *arg)
{
    while (!atomic_load_explicit(&ready, memory_order_acquire))
        ;
    pthread_join(t[arg == NULL], NULL);
    return arg;
}

int main(void)
{
    pthread_create(&t[0], NULL, run, NULL);
    pthread_create(&t[1], NULL, run, t);
    atomic_store_explicit(&ready, 1, memory_order_release);
    pthread_exit(NULL);
}

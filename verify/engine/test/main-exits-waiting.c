/* SPDX-License-Identifier: MIT */
/*
 * Main ends by pthread_exit, not by a return: the process lives on, and the thread waits forever.
 * expect: error livelock
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int stop;

static void *run(void *arg)
{
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        ;
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_exit(NULL);
}

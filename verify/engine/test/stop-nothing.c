/* SPDX-License-Identifier: MIT */
/*
 * Threads without a step to be stopped at show nothing.
 *
 * expect: unsupported
 * options: --stop-threads
 */
#include <pthread.h>

static void *run(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    return 0;
}

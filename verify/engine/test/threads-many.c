/* SPDX-License-Identifier: MIT */
/*
 * Threads that have ended count.
 * expect: unsupported
 * says: more than 32 threads in one execution
 */
#include <pthread.h>

static void *run(void *arg)
{
    return arg;
}

int main(void)
{
    pthread_t t;
    for (int i = 0; i < 32; i++) {
        pthread_create(&t, NULL, run, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}

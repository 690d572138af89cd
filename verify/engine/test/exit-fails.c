/* SPDX-License-Identifier: MIT */
/*
 * A process that ends with an error, from any thread.
 * expect: error assertion 12
 * says: exit(3) was called
 */
#include <pthread.h>
#include <stdlib.h>

static void *run(void *arg)
{
    exit(3);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A thread may detach itself.
 * expect: pass 1
 */
#include <pthread.h>

static void *run(void *arg)
{
    pthread_detach(pthread_self());
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, run, NULL);
    return 0;
}

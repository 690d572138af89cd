/* SPDX-License-Identifier: MIT */
/*
 * A destroyed barrier is no barrier.
 * expect: error mutex
 */
#include <pthread.h>
static pthread_barrier_t b;

int main(void)
{
    pthread_barrier_init(&b, NULL, 1);
    pthread_barrier_destroy(&b);
    pthread_barrier_wait(&b);
    return 0;
}

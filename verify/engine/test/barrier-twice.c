/* SPDX-License-Identifier: MIT */
/*
 * One that was not destroyed may not.
 * expect: error mutex
 */
#include <pthread.h>
static pthread_barrier_t b;

int main(void)
{
    pthread_barrier_init(&b, NULL, 1);
    pthread_barrier_init(&b, NULL, 1);
    return 0;
}

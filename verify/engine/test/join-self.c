/* SPDX-License-Identifier: MIT */
/*
 * But not join itself.
 * expect: error thread
 */
#include <pthread.h>

int main(void)
{
    pthread_join(pthread_self(), NULL);
    return 0;
}

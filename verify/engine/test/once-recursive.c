/* SPDX-License-Identifier: MIT */
/*
 * The initialisation waits for itself.
 *
 * expect: error deadlock
 */
#include <pthread.h>

static pthread_once_t o = PTHREAD_ONCE_INIT;

static void init(void)
{
    pthread_once(&o, init);
}

int main(void)
{
    return pthread_once(&o, init);
}

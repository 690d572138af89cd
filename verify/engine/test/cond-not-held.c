/* SPDX-License-Identifier: MIT */
/*
 * A wait needs the mutex.
 *
 * expect: error mutex
 */
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

int main(void)
{
    return pthread_cond_wait(&c, &m);
}

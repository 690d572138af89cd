/* SPDX-License-Identifier: MIT */
/*
 * An unlock without a lock.
 *
 * expect: error mutex
 */
#include <pthread.h>

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

int main(void)
{
    return pthread_rwlock_unlock(&l);
}

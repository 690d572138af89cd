/* harness
 * property: a lock is released by the thread that holds it (another one does)
 * engines: genmc explore
 * threads: 2
 * bound: one lock
 * expect: FAIL misuse
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include <pthread.h>

static pthread_mutex_t lock;

static void setup(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void thread(int id)
{
    if (id == 0)
        pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    pthread_mutex_destroy(&lock);
}

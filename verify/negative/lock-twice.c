/* harness
 * property: a thread takes a lock that it does not hold yet (it takes it twice)
 * engines: explore
 * threads: 1
 * bound: one lock
 * expect: FAIL misuse
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#include "harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void setup(void) {}

static void thread(int id)
{
    (void)id;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}

static void finish(void) {}

/* harness
 * property: two locks taken in opposite orders do not block each other forever (they do)
 * engines: native tsan genmc explore
 * threads: 2
 * bound: two locks
 * rounds: 400000
 * stall: 2
 * blocked: 0
 * expect: FAIL deadlock
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

#include <pthread.h>

static pthread_mutex_t lock[2];

static void setup(void)
{
    pthread_mutex_init(&lock[0], NULL);
    pthread_mutex_init(&lock[1], NULL);
}

static void thread(int id)
{
    pthread_mutex_lock(&lock[id]);
    pause_here();
    pthread_mutex_lock(&lock[1 - id]);
    pthread_mutex_unlock(&lock[1 - id]);
    pthread_mutex_unlock(&lock[id]);
}

static void finish(void)
{
    pthread_mutex_destroy(&lock[0]);
    pthread_mutex_destroy(&lock[1]);
}

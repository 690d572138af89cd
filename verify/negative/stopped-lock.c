/* harness
 * property: a thread stopped forever inside a push blocks no other thread (it does: it holds the lock)
 * engines: explore
 * threads: 2
 * bound: one push each; each thread stopped after each of its steps
 * flags explore: --stop-threads
 * expect: FAIL blocking
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 2
#include "harness.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t slot[THREADS];
static int count;

static void setup(void) {}

static void thread(int id)
{
    pthread_mutex_lock(&lock);
    slot[count++] = (uint64_t)id;
    pthread_mutex_unlock(&lock);
}

static void finish(void)
{
    assert(count == THREADS);
}

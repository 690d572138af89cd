/* harness
 * property: a thread is joined once (it is joined twice)
 * engines: explore
 * threads: 2
 * bound: one thread that starts another
 * expect: FAIL misuse
 */
/* SPDX-License-Identifier: MIT */
#define THREADS 1
#include "harness.h"

static void *nothing(void *arg)
{
    return arg;
}

static void setup(void) {}

static void thread(int id)
{
    pthread_t t;

    (void)id;
    pthread_create(&t, NULL, nothing, NULL);
    pthread_join(t, NULL);
    pthread_join(t, NULL);
}

static void finish(void) {}

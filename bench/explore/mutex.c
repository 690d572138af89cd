/* SPDX-License-Identifier: MIT */
/* A plain counter behind a mutex. */
#include "threads.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void thread(int id)
{
    (void)id;
    for (int i = 0; i < STEPS; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
}

static void finish(void)
{
    assert(counter == THREADS * STEPS);
}

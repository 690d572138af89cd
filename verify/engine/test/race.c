/* SPDX-License-Identifier: MIT */
/*
 * Message passing with a relaxed load: the data races, lines 27 and 18.
 *
 * expect: error race 27 18
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int flag;
static int data;

static void *t1(void *arg)
{
    (void)arg;
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        assert(data == 42);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

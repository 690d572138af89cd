/* SPDX-License-Identifier: MIT */
/*
 * Breaks only when the weak compare-exchange fails for no reason (GenMC never lets it).
 *
 * expect: error assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;

static void *t1(void *arg)
{
    (void)arg;
    int expected = 0;
    if (!atomic_compare_exchange_weak(&x, &expected, 1))
        assert(expected != 0);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    ;
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

/* SPDX-License-Identifier: MIT */
/*
 * A compare-exchange loads what it expects.
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int expected;

static void *exchange(void *arg)
{
    atomic_compare_exchange_strong(&x, &expected, 1);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, exchange, NULL);
    expected = 5;
    pthread_join(t, NULL);
}

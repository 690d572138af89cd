/* SPDX-License-Identifier: MIT */
/*
 * And stores there when it fails.
 * expect: error race 13 22
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x = 1;
static int expected;

static void *exchange(void *arg)
{
    atomic_compare_exchange_strong(&x, &expected, 1);
    return arg;
}

int main(void)
{
    pthread_t t;
    int seen;
    pthread_create(&t, NULL, exchange, NULL);
    seen = expected;
    pthread_join(t, NULL);
    return seen == 7;
}

/* SPDX-License-Identifier: MIT */
/*
 * A load and a store of each thread: 2 orders, or both read 0; each sees its own value afterwards.
 * expect: weaker 4
 * build: --volatile relaxed
 */
#include <assert.h>
#include <pthread.h>

static volatile int n;

static void *count(void *arg)
{
    n++;
    return arg;
}

int main(void)
{
    pthread_t t, u;
    volatile int own = 3;

    pthread_create(&t, NULL, count, NULL);
    pthread_create(&u, NULL, count, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    own++;
    assert(own == 4 && (n == 1 || n == 2));
    return 0;
}

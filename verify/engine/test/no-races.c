/* SPDX-License-Identifier: MIT */
/*
 * Without races plain values are those of one order: the pass states that.
 *
 * options: --no-races
 * expect: weaker 1
 * says: verdict: pass, but weaker
 */
#include <assert.h>
#include <pthread.h>

static int n;

static void *t1(void *arg)
{
    n++;
    return arg;
}

static void *t2(void *arg)
{
    n++;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(n == 2);
    return 0;
}

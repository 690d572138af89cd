/* SPDX-License-Identifier: MIT */
/*
 * Locals may go by value, in both directions.
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
struct pair {
    int a[8];
};

static struct pair make(int n)
{
    struct pair p = {{n}};
    return p;
}

static int first(struct pair p)
{
    return p.a[0];
}

static void *run(void *arg)
{
    return arg;
}

int main(void)
{
    struct pair p = make(3), q;
    pthread_t t;
    q = make(4);
    pthread_create(&t, NULL, run, NULL);
    pthread_join(t, NULL);
    assert(first(p) == 3 && first(q) == 4);
    return 0;
}

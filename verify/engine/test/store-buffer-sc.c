/* SPDX-License-Identifier: MIT */
/*
 * Store buffering with seq_cst: at least one load sees the other store.
 *
 * expect: pass 3
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x, y;
static int a, b;

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&x, 1);
    a = atomic_load(&y);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    atomic_store(&y, 1);
    b = atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert(a || b);
    return 0;
}

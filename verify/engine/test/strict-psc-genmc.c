/* SPDX-License-Identifier: MIT */
/*
 * The same with GenMC's stronger rule.
 *
 * expect: pass
 * options: --genmc
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x, y;
static int a, b, c;

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&x, 1);
    atomic_store_explicit(&y, 1, memory_order_release);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    a = atomic_fetch_add(&y, 1);
    b = atomic_load_explicit(&y, memory_order_relaxed);
    return NULL;
}

static void *t3(void *arg)
{
    (void)arg;
    atomic_store(&y, 3);
    c = atomic_load(&x);
    return NULL;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_create(&t[2], NULL, t3, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    pthread_join(t[2], NULL);
    assert(!(a == 1 && b == 3 && c == 0));
    return 0;
}

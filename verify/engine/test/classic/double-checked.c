/* SPDX-License-Identifier: MIT */
/*
 * Double-checked initialisation with a relaxed pointer.
 *
 * error: race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int object;
static int *_Atomic shared;

static int use(void)
{
    int *p = atomic_load_explicit(&shared, memory_order_relaxed);
    if (!p) {
        pthread_mutex_lock(&m);
        p = atomic_load_explicit(&shared, memory_order_relaxed);
        if (!p) {
            object = 7;
            p = &object;
            atomic_store_explicit(&shared, p, memory_order_relaxed);
        }
        pthread_mutex_unlock(&m);
    }
    return *p;
}

static void *t1(void *arg)
{
    assert(use() == 7);
    return arg;
}

static void *t2(void *arg)
{
    assert(use() == 7);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

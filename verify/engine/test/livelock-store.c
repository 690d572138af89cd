/* SPDX-License-Identifier: MIT */
/*
 * A waiting loop with a plain store: no thread sets x when T1 sees y.
 *
 * expect: error livelock
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int waiting;
#define LD(v) atomic_load_explicit(&v, memory_order_relaxed)
#define ST(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)
static void *one(void *a)
{
    if (!LD(y))
        ST(x, 1);
    return a;
}
static void *two(void *a)
{
    ST(y, 1);
    while (!LD(x))
        waiting = 1;
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, one, 0);
    pthread_create(&t[1], 0, two, 0);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}

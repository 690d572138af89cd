/* SPDX-License-Identifier: MIT */
/*
 * The order of the load is a variable: the second iteration's is relaxed.
 *
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static int d;
static void *w(void *a)
{
    int o = __ATOMIC_ACQUIRE, s;
    for (;;) {
        s = __atomic_load_n((int *)&x, o);
        if (s == 2)
            break;
        o = s == 1 ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
    }
    d = 2;
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, w, 0);
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    d = 1;
    atomic_store_explicit(&x, 2, memory_order_release);
    pthread_join(t, 0);
    return 0;
}

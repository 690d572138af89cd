/* SPDX-License-Identifier: MIT */
/*
 * The inner loop's failed iteration reads d; the outer iteration around it is left out as well.
 *
 * expect: error race
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y, z, w;
static int d;
#define LD(v) atomic_load_explicit(&v, memory_order_relaxed)
#define ST(v, n) atomic_store_explicit(&v, n, memory_order_relaxed)
static void *reader(void *a)
{
    while (!LD(x)) {
        (void)LD(w);
        (void)LD(w);
        (void)LD(w);
        while (!LD(z))
            (void)*(volatile int *)&d;
    }
    ST(y, 1);
    return a;
}
static void *writer(void *a)
{
    if (LD(y))
        d = 1;
    return a;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, reader, 0);
    pthread_create(&t[1], 0, writer, 0);
    ST(z, 1);
    ST(x, 1);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return 0;
}

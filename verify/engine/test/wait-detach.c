/* SPDX-License-Identifier: MIT */
/*
 * The second iteration detaches a thread that is detached already.
 *
 * expect: error thread
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;
static pthread_t t[2];
static void *n(void *a) { return a; }
static void *w(void *a)
{
    while (!atomic_load(&x))
        pthread_detach(t[0]);
    return a;
}
int main(void)
{
    pthread_create(&t[0], 0, n, 0);
    pthread_create(&t[1], 0, w, 0);
    atomic_store(&x, 1);
    pthread_join(t[1], 0);
    return 0;
}

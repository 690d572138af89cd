/* SPDX-License-Identifier: MIT */
/*
 * Correct: main returns, and with it the thread ends.
 *
 * expect: pass
 */
#include <lade_explore.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int stop;
static void *d(void *a)
{
    while (!atomic_load(&stop))
        (void)explore_choose(2);
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, d, 0);
    pthread_detach(t);
    return 0;
}

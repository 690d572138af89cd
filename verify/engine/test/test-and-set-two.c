/* SPDX-License-Identifier: MIT */
/*
 * Two threads wait for a lock that no thread will release.
 * expect: error livelock
 */
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag taken = ATOMIC_FLAG_INIT;

static void *run(void *arg)
{
    while (atomic_flag_test_and_set_explicit(&taken, memory_order_acquire))
        ;
    return arg;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
}

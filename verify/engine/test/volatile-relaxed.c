/* SPDX-License-Identifier: MIT */
/*
 * Volatile accesses with fences, as in the kernel: READ_ONCE, WRITE_ONCE, smp_wmb, smp_rmb.
 * expect: weaker 2
 * build: --volatile relaxed
 * says: weaker: volatile accesses are taken as relaxed atomic ones
 */
#include <assert.h>
#include <pthread.h>

static int ready, data;

static void *sender(void *arg)
{
    *(volatile int *)&data = 1;
    __sync_synchronize();
    *(volatile int *)&ready = 1;
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, sender, NULL);
    if (*(volatile int *)&ready) {
        __sync_synchronize();
        assert(*(volatile int *)&data == 1);
    }
    pthread_join(t, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Without the option a volatile access is a plain one.
 * expect: error race
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

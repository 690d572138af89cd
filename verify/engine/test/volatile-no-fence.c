/* SPDX-License-Identifier: MIT */
/*
 * Volatile orders nothing.
 * expect: error assertion
 * build: --volatile relaxed
 */
#include <assert.h>
#include <pthread.h>

static int ready, data;

static void *sender(void *arg)
{
    *(volatile int *)&data = 1;
    
    *(volatile int *)&ready = 1;
    return arg;
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, sender, NULL);
    if (*(volatile int *)&ready) {
        
        assert(*(volatile int *)&data == 1);
    }
    pthread_join(t, NULL);
    return 0;
}

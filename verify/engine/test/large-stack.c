/* SPDX-License-Identifier: MIT */
/*
 * A frame larger than the stack that explore gives a thread: explore's limit, not an error of the program. The frame
 * must not reach past the guard page into another thread's stack.
 * expect: unsupported
 */
#include <pthread.h>

static void *run(void *arg)
{
    char large[3000000];
    large[0] = 1;
    large[sizeof large - 1] = large[0];
    return large[sizeof large - 1] ? arg : NULL;
}

int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

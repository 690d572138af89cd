/* SPDX-License-Identifier: MIT */
/*
 * Each thread has its own errno, 0 at the start, in every run.
 * expect: pass 2
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x;

static void *run(void *arg)
{
    assert(errno == 0);
    errno = (int)(long)arg;
    atomic_fetch_add(&x, 1);
    assert(errno == (int)(long)arg);
    return NULL;
}

int main(void)
{
    pthread_t t, u;
    assert(errno == 0);
    pthread_create(&t, NULL, run, (void *)1);
    pthread_create(&u, NULL, run, (void *)2);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    errno = 3;
    return 0;
}

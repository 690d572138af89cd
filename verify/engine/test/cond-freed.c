/* SPDX-License-Identifier: MIT */
/*
 * Once all threads are woken, the condition variable may be destroyed and freed: they use it no more.
 *
 * expect: pass
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *c;
static int gone;

static void *t1(void *arg)
{
    pthread_mutex_lock(&m);
    if (!gone)
        pthread_cond_wait(c, &m);
    pthread_mutex_unlock(&m);
    return arg;
}

static void *t2(void *arg)
{
    pthread_mutex_lock(&m);
    gone = 1;
    pthread_cond_broadcast(c);
    pthread_cond_destroy(c);
    free(c);
    pthread_mutex_unlock(&m);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    c = malloc(sizeof *c);
    pthread_cond_init(c, NULL);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

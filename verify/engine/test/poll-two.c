/* SPDX-License-Identifier: MIT */
/*
 * Two consumers poll a counter that is raised twice.
 *
 * expect: pass
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int items;

static void *get(void *arg)
{
    int ok;

    do {
        pthread_mutex_lock(&m);
        ok = items > 0;
        if (ok)
            items--;
        pthread_mutex_unlock(&m);
    } while (!ok);
    return arg;
}

static void *put(void *arg)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&m);
        items++;
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, get, NULL);
    pthread_create(&t[1], NULL, get, NULL);
    pthread_create(&t[2], NULL, put, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    assert(items == 0);
    return 0;
}

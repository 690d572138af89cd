/* SPDX-License-Identifier: MIT */
/*
 * Either thread may be first, and the other then finds the mutex taken, or free again. (GenMC 0.11 has no execution in which
 * the second thread finds it taken.)
 * expect: pass 4
 * options: --outcomes
 * says: outcome: 1 0 (1 execution)
 */
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int got[2];

static void *run(void *arg)
{
    int *mine = arg;
    if (!pthread_mutex_trylock(&m)) {
        *mine = 1;
        pthread_mutex_unlock(&m);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, &got[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%d %d\n", got[0], got[1]);
    return 0;
}

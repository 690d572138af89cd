/* SPDX-License-Identifier: MIT */
/* Starts THREADS copies of thread(id), waits for them, then calls finish(). Both checkers run these programs. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

static void thread(int id);
static void finish(void);

static void *body(void *arg)
{
    thread((int)(intptr_t)arg);
    return NULL;
}

int main(void)
{
    pthread_t t[THREADS];

    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, body, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    finish();
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Executions that the program is not interested in.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int x;
void __VERIFIER_assume(_Bool);

static void *t1(void *arg)
{
    (void)arg;
    atomic_store(&x, 1);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    __VERIFIER_assume(atomic_load(&x) == 1);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}

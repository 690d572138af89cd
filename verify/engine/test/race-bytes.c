/* SPDX-License-Identifier: MIT */
/*
 * Neighbouring bytes are different memory locations.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct { char a, b; } s;

static void *t1(void *arg)
{
    (void)arg;
    s.a = 1;
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    s.b = 2;
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    pthread_create(&t[0], NULL, t1, NULL);
    pthread_create(&t[1], NULL, t2, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    assert(s.a == 1 && s.b == 2);
    return 0;
}

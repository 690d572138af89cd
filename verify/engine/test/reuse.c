/* SPDX-License-Identifier: MIT */
/*
 * Plain initialisation of an atomic for reuse, ordered by join.
 *
 * expect: pass 1
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct { int c; } s;

static void *t1(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&s.c, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    pthread_t t;

    for (int i = 0; i < 2; i++) {
        s.c = 10 * i;
        pthread_create(&t, NULL, t1, NULL);
        pthread_join(t, NULL);
        assert(s.c == 10 * i + 1);
    }
    return 0;
}

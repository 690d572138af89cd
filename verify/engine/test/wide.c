/* SPDX-License-Identifier: MIT */
/*
 * Sixteen-byte compare-exchange.
 *
 * expect: pass 2
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef unsigned __int128 wide;
static _Atomic wide x;

static void *t1(void *arg)
{
    (void)arg;
    wide e = 0;
    atomic_compare_exchange_strong(&x, &e, ((wide)1 << 64) | 2);
    return NULL;
}

static void *t2(void *arg)
{
    (void)arg;
    wide e = 0;
    if (!atomic_compare_exchange_strong(&x, &e, 7))
        assert(e >> 64 == 1 && (unsigned long)e == 2);
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

/* SPDX-License-Identifier: MIT */
/*
 * A loop that waits for a short beside another value: what earlier rounds left in the slots beside it is dead.
 *
 * expect: pass 1
 */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic short value, ready;

static void *wait(void *p)
{
    for (;;) {
        int seen = atomic_load_explicit(&ready, memory_order_acquire);
        int other = atomic_load_explicit(&value, memory_order_seq_cst);
        (void)other;
        if (seen == 1)
            return p;
    }
}

int main(void)
{
    pthread_t t;

    pthread_create(&t, NULL, wait, NULL);
    atomic_store_explicit(&value, 2, memory_order_relaxed);
    atomic_store_explicit(&ready, 1, memory_order_seq_cst);
    pthread_join(t, NULL);
    return 0;
}

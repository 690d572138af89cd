/* SPDX-License-Identifier: MIT */
/*
 * A spin lock whose unlock does not release.
 *
 * error: race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int taken;
static int inside;

static void enter_and_leave(void)
{
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
        ;
    inside++;
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
}

static void *t1(void *arg)
{
    enter_and_leave();
    return arg;
}

static void *t2(void *arg)
{
    enter_and_leave();
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(inside == 2);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * Peterson's lock with release and acquire only.
 *
 * error: race
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag[2], turn;
static int inside;

static void enter_and_leave(int me)
{
    atomic_store_explicit(&flag[me], 1, memory_order_release);
    atomic_store_explicit(&turn, 1 - me, memory_order_release);
    while (atomic_load_explicit(&flag[1 - me], memory_order_acquire) && atomic_load_explicit(&turn, memory_order_acquire) == 1 - me)
        ;
    inside++;
    atomic_store_explicit(&flag[me], 0, memory_order_release);
}

static void *t1(void *arg)
{
    enter_and_leave(0);
    return arg;
}

static void *t2(void *arg)
{
    enter_and_leave(1);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A consume load orders only what depends on it. Here it is taken as acquire, which a line of the result states.
 * expect: weaker 2
 * says: weaker: a consume load orders as much as an acquire load
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static int data;
static atomic_int flag;

static void *sender(void *arg)
{
    data = 42;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, sender, NULL);
    if (atomic_load_explicit(&flag, memory_order_consume))
        assert(data == 42);
    pthread_join(t, NULL);
    return 0;
}

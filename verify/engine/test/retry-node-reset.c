/* SPDX-License-Identifier: MIT */
/*
 * A try-lock that sets up its node again before each try: an atomic store is in every iteration, so that it is not left out.
 * The loop is named.
 *
 * expect: bound
 * options: --unroll 4
 * says: retry-node-reset.c:26 more than 4 times
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct node {
    struct node *_Atomic next;
};
static struct node node[2];
static struct node *_Atomic tail;
static int data;

static bool try(struct node *n)
{
    struct node *none = NULL;

    atomic_store_explicit(&n->next, NULL, memory_order_relaxed);
    return atomic_compare_exchange_strong_explicit(&tail, &none, n, memory_order_acquire, memory_order_relaxed);
}

static void *run(void *arg)
{
    while (!try(arg))
        ;
    data++;
    atomic_store_explicit(&tail, NULL, memory_order_release);
    return NULL;
}

int main(void)
{
    pthread_t t[2];

    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, &node[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    assert(data == 2);
    return 0;
}

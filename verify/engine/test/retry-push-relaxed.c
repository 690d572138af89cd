/* SPDX-License-Identifier: MIT */
/*
 * The push does not release: a thread that finds the node loads what the last failed compare-exchange stored to it.
 *
 * expect: error race 39 19
 */
#include <pthread.h>
#include <stdatomic.h>

static struct node {
    struct node *next;
} node[2];
static struct node *_Atomic top;

static void *push(void *arg)
{
    struct node *n = &node[0];

    n->next = atomic_load_explicit(&top, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&top, &n->next, n, memory_order_relaxed, memory_order_relaxed))
        ;
    return arg;
}

static void *other(void *arg)
{
    struct node *n = &node[1];

    n->next = atomic_load_explicit(&top, memory_order_relaxed);
    atomic_store_explicit(&top, n, memory_order_release);
    return arg;
}

static void *look(void *arg)
{
    struct node *n = atomic_load_explicit(&top, memory_order_acquire);

    if (n == &node[0])
        n = n->next;
    return arg;
}

int main(void)
{
    pthread_t t[3];

    pthread_create(&t[0], NULL, push, NULL);
    pthread_create(&t[1], NULL, other, NULL);
    pthread_create(&t[2], NULL, look, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A push that loads the top again: a retry stores to a node that no other thread knows, and is left out. Three nodes, six orders.
 *
 * expect: pass 6
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { N = 3 };
static struct node {
    struct node *next;
} node[N];
static struct node *_Atomic top;

static void *push(void *arg)
{
    struct node *n = &node[(intptr_t)arg];
    struct node *old;

    do {
        old = atomic_load_explicit(&top, memory_order_relaxed);
        n->next = old;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, n, memory_order_release, memory_order_relaxed));
    return NULL;
}

int main(void)
{
    pthread_t t[N];

    for (intptr_t i = 0; i < N; i++)
        pthread_create(&t[i], NULL, push, (void *)i);
    for (int i = 0; i < N; i++)
        pthread_join(t[i], NULL);
    int count = 0;
    for (struct node *n = atomic_load(&top); n; n = n->next)
        count++;
    assert(count == N);
    return 0;
}

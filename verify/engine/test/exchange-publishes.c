/* SPDX-License-Identifier: MIT */
/*
 * A local that a compare-exchange publishes is shared from then on.
 * expect: error race 27 17
 */
#include <pthread.h>
#include <stdatomic.h>
struct node {
    long v, w;
};
static _Atomic(struct node *) head;

static void *publish(void *arg)
{
    struct node node = {1, 1}, *none = NULL;
    atomic_compare_exchange_strong_explicit(&head, &none, &node, memory_order_relaxed, memory_order_relaxed);
    node.v = 2;
    while (atomic_load_explicit(&head, memory_order_acquire))
        ;
    return arg;
}

static void *take(void *arg)
{
    struct node *p = atomic_load_explicit(&head, memory_order_relaxed);
    if (p)
        p->v = 3;
    atomic_store_explicit(&head, NULL, memory_order_release);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, publish, NULL);
    pthread_create(&b, NULL, take, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* SPDX-License-Identifier: MIT */
/*
 * The failed compare-exchange is relaxed: b.next is loaded although nothing orders the store before it.
 *
 * expect: error race 27 18
 */
#include <pthread.h>
#include <stdatomic.h>

struct node {
    struct node *next;
};
static struct node a, b;
static struct node *_Atomic top = &a;

static void *push(void *arg)
{
    b.next = &a;
    atomic_store_explicit(&top, &b, memory_order_release);
    return arg;
}

static void *pop(void *arg)
{
    struct node *t = atomic_load_explicit(&top, memory_order_acquire);

    while (t && !atomic_compare_exchange_strong_explicit(&top, &t, t->next,
                                                         memory_order_acquire, memory_order_relaxed))
        ;
    return arg;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, push, NULL);
    pthread_create(&u, NULL, pop, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A pop that fails has loaded a.next. It then takes b and announces that relaxed: a store to a.next races with the load in the
 * iteration that failed.
 *
 * expect: error race 23 31
 */
#include <pthread.h>
#include <stdatomic.h>

struct node {
    struct node *next;
};
static struct node a, b;
static struct node *_Atomic top = &a;
static atomic_int flag;

static void *push(void *arg)
{
    b.next = &a;
    atomic_store_explicit(&top, &b, memory_order_release);
    if (atomic_load_explicit(&flag, memory_order_relaxed))
        a.next = NULL;
    return arg;
}

static void *pop(void *arg)
{
    struct node *t = atomic_load_explicit(&top, memory_order_acquire);

    while (t && !atomic_compare_exchange_strong_explicit(&top, &t, t->next,
                                                         memory_order_acquire, memory_order_acquire))
        ;
    if (t == &b)
        atomic_store_explicit(&flag, 1, memory_order_relaxed);
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

/* SPDX-License-Identifier: MIT */
/*
 * A stack of two nodes whose nodes come back: between the load of next and the exchange, the other thread takes both and
 * puts the first back. No order repairs that.
 *
 * error: assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static struct node {
    struct node *_Atomic next;
} n[2];
static struct node *_Atomic top;
static atomic_int taken[2];

static struct node *pop(void)
{
    struct node *p = atomic_load_explicit(&top, memory_order_acquire);
    while (p && !atomic_compare_exchange_strong_explicit(&top, &p, atomic_load_explicit(&p->next, memory_order_acquire),
                                                         memory_order_acq_rel, memory_order_acquire))
        ;
    return p;
}

static void push(struct node *p)
{
    struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
    do
        atomic_store_explicit(&p->next, old, memory_order_relaxed);
    while (!atomic_compare_exchange_strong_explicit(&top, &old, p, memory_order_release, memory_order_relaxed));
}

static void own(struct node *p)
{
    if (p)
        assert(atomic_fetch_add_explicit(&taken[p - n], 1, memory_order_relaxed) == 0);
}

static void *t1(void *arg)
{
    own(pop());
    return arg;
}

static void *t2(void *arg)
{
    struct node *a = pop(), *b = pop();
    own(b);
    if (a)
        push(a);
    return arg;
}

int main(void)
{
    pthread_t a, b;
    atomic_init(&n[0].next, &n[1]);
    atomic_init(&top, &n[0]);
    pthread_create(&a, NULL, t1, NULL);
    pthread_create(&b, NULL, t2, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    own(pop());
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * A compare-exchange that fails for no reason again and again, behind a plain store, while an iteration is kept for its
 * accesses: each failure is a retry of the one before it, so that the thread does not continue forever.
 *
 * expect: pass 4
 * options: --max-events 100
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *next;
};

static _Atomic(struct node *) list;
static atomic_int holders = 2;
static struct node node;

static void give_back(void)
{
    struct node *first;

    if (atomic_fetch_sub_explicit(&holders, 1, memory_order_release) != 1)
        return;
    (void)atomic_load_explicit(&holders, memory_order_acquire);
    first = atomic_load_explicit(&list, memory_order_relaxed);
    do
        node.next = first;
    while (!atomic_compare_exchange_weak_explicit(&list, &first, &node, memory_order_release, memory_order_relaxed));
}

static void *giver(void *unused)
{
    give_back();
    return unused;
}

static void *taker(void *unused)
{
    struct node *taken;

    give_back();
    taken = atomic_exchange_explicit(&list, NULL, memory_order_acquire);
    if (taken)
        taken->next = taken;
    return unused;
}

int main(void)
{
    pthread_t t, u;

    pthread_create(&t, NULL, giver, NULL);
    pthread_create(&u, NULL, taker, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * libcds, Michael and Scott's queue (issue 186, 2025, open; found with GenMC). The first dequeuer moves the head to a
 * new node by a compare-exchange that acquires and does not release, so a second dequeuer that reads this head is not
 * ordered after the enqueuer.
 *
 * repair: acq_rel instead of acquire
 */
#define THREADS 3
#include "harness.h"

#ifdef BROKEN
#define MOVE_HEAD memory_order_acquire
#else
#define MOVE_HEAD memory_order_acq_rel
#endif

struct node {
    _Atomic(struct node *) next;
    int value;
};
static struct node first;
static _Atomic(struct node *) head = &first;

static void setup(void)
{
}

static void enqueue(void)
{
    struct node *n = malloc(sizeof *n);

    atomic_init(&n->next, NULL);
    n->value = 1;
    atomic_store_explicit(&first.next, n, memory_order_release);
}

static void dequeue(void)
{
    struct node *h = atomic_load_explicit(&head, memory_order_acquire);
    struct node *next = atomic_load_explicit(&h->next, memory_order_acquire); /* the error */

    if (next && atomic_compare_exchange_strong_explicit(&head, &h, next, MOVE_HEAD, memory_order_relaxed))
        assert(next->value == 1);
}

static void thread(int id)
{
    if (id == 0)
        enqueue();
    else
        dequeue();
}

static void finish(void)
{
    free(atomic_load_explicit(&first.next, memory_order_relaxed));
}

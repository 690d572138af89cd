/* SPDX-License-Identifier: MIT */
/*
 * Pony's runtime, the message queue (pull request 2174, 2017). A push clears the link of its node, and publishes the
 * node by a relaxed exchange. The next push may store its link before the node is cleared, and then is lost.
 * Impossible on x86.
 *
 * repair: acq_rel instead of relaxed
 */
#define THREADS 2
#include "harness.h"

#ifdef BROKEN
#define PUBLISH memory_order_relaxed
#else
#define PUBLISH memory_order_acq_rel
#endif

struct node {
    _Atomic(struct node *) next;
};
static struct node stub, message[2] = {{&stub}, {&stub}}; /* nodes are reused: their links hold what was there before */
static _Atomic(struct node *) head = &stub;

static void setup(void)
{
}

static void thread(int id)
{
    struct node *n = &message[id];

    atomic_store_explicit(&n->next, NULL, memory_order_relaxed);
    struct node *before = atomic_exchange_explicit(&head, n, PUBLISH);
    atomic_store_explicit(&before->next, n, memory_order_release);
}

static void finish(void)
{
    int reached = 0;

    for (struct node *n = &stub; (n = atomic_load_explicit(&n->next, memory_order_relaxed)) != NULL;)
        reached++;
    assert(reached == 2); /* the error */
}

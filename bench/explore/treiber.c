/* SPDX-License-Identifier: MIT */
/* A stack (Treiber 1986): PUSHES threads push an element each, POPS threads pop one. */
#include "threads.h"

struct node {
    int value;
    struct node *next;
};

static struct node *_Atomic top;
static struct node node[PUSHES];

static void push(struct node *n)
{
    struct node *old;

    do {
        old = atomic_load_explicit(&top, memory_order_acquire);
        n->next = old;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, n, memory_order_release, memory_order_relaxed));
}

static int pop(void)
{
    struct node *old, *next;

    do {
        old = atomic_load_explicit(&top, memory_order_acquire);
        if (!old)
            return 0;
        next = old->next;
    } while (!atomic_compare_exchange_strong_explicit(&top, &old, next, memory_order_release, memory_order_relaxed));
    return old->value;
}

static void thread(int id)
{
    if (id < PUSHES) {
        node[id].value = id + 1;
        push(&node[id]);
    } else {
        int v = pop();
        assert(v >= 0 && v <= PUSHES);
    }
}

static void finish(void) {}

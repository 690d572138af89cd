/* SPDX-License-Identifier: MIT */
/* A stack (Treiber 1986): PUSHES threads push an element each, the others pop one. Nothing is freed. */
#include "threads.h"

struct node {
    int value;
    struct node *next;
};

static struct node *_Atomic top;

static void push(int value)
{
    struct node *n = malloc(sizeof *n), *old;

    n->value = value;
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
        push(id + 1);
    } else {
        int v = pop();
        assert(v >= 0 && v <= PUSHES);
    }
}

static void finish(void)
{
}

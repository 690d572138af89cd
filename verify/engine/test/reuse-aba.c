/* SPDX-License-Identifier: MIT */
/*
 * Treiber's pop: between its load of the top and its exchange both nodes go away, and a new one has the
 * address of the first. The exchange succeeds and puts the freed second node on top.
 * expect: error use-after-free 63 44
 * options: --reuse
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int value;
};

/* The tag in the upper bits counts pushes and pops; TAG 0: there is none. */
#define TAG 0
#define NODE(WORD) ((struct node *)(uintptr_t)((WORD) & 0xffffffffffff))
#define NEXT(WORD, POINTER) ((((WORD) >> 48) + TAG) << 48 | (uintptr_t)(POINTER))

static _Atomic uint64_t top;
static atomic_int looked;

static struct node *make(int value, struct node *next)
{
    struct node *n = malloc(sizeof *n);
    n->next = next;
    n->value = value;
    return n;
}

/* Takes both nodes away, frees them and pushes a new one. */
static void *other(void *arg)
{
    while (!atomic_load(&looked))
        ;
    uint64_t t = atomic_load(&top);
    struct node *a = NODE(t), *b = a->next;
    if (!atomic_compare_exchange_strong(&top, &t, NEXT(t, (struct node *)0)))
        return arg;
    free(a);
    free(b);
    atomic_store(&top, NEXT(atomic_load(&top), make(3, NULL)));
    return arg;
}

int main(void)
{
    pthread_t thread;
    struct node *second = make(2, NULL);

    atomic_store(&top, (uintptr_t)make(1, second));
    pthread_create(&thread, NULL, other, NULL);
    uint64_t t = atomic_load(&top);
    uint64_t popped = NEXT(t, NODE(t)->next);
    atomic_store(&looked, 1);
    struct node *mine = atomic_compare_exchange_strong(&top, &t, popped) ? NODE(t) : NULL;
    pthread_join(thread, NULL);
    free(mine);
    for (struct node *n = NODE(atomic_load(&top)), *next; n; n = next) {
        next = n->next;
        free(n);
    }
    return 0;
}
